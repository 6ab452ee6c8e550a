#include "common/transport/endpoint.h"

#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml::transport {
namespace {

TEST_CASE("addresses are taken apart", "[transport]") {
  const Endpoint tcp = Endpoint::parse("tcp://node7:5555");
  REQUIRE(tcp.kind() == Endpoint::Kind::kTcp);
  REQUIRE(tcp.host() == "node7");
  REQUIRE(tcp.port() == "5555");
  REQUIRE(tcp.str() == "tcp://node7:5555");
  REQUIRE(Endpoint::parse("tcp://[::1]:80").host() == "::1");
  REQUIRE(Endpoint::parse("tcp://127.0.0.1:*").port() == "*");
  REQUIRE(Endpoint::parse("ipc:///tmp/a.sock").path() == "/tmp/a.sock");
  REQUIRE(Endpoint::parse("inproc://x").path() == "x");
}

TEST_CASE("what stands for all addresses, and what is IPv6, is known", "[transport]") {
  for (const char* text : {"tcp://*:1", "tcp://0.0.0.0:1", "tcp://[::]:1", "tcp://[0::0]:1"}) {
    CHECK(Endpoint::parse(text).is_everywhere());
  }
  CHECK_FALSE(Endpoint::parse("tcp://[::1]:1").is_everywhere());
  CHECK_FALSE(Endpoint::parse("ipc://*").is_everywhere());
  CHECK(Endpoint::parse("tcp://[fe80::1]:1").is_ipv6());
  CHECK_FALSE(Endpoint::parse("tcp://node7:1").is_ipv6());
  CHECK_FALSE(Endpoint::parse("tcp://eth0:1:5555").is_ipv6());  // an alias of an interface
  CHECK_FALSE(Endpoint::parse("ipc:///a:b").is_ipv6());
}

TEST_CASE("what is not an address is refused with the text", "[transport]") {
  for (const char* text : {"", "localhost:5555", "http://x:1", "tcp://", "ipc://", "tcp:/x:1"}) {
    REQUIRE_THROWS_WITH(Endpoint::parse(text),
                        Catch::StartsWith("'" + std::string{text} + "' is not an address"));
  }
  for (const char* text : {"tcp://host", "tcp://:5", "tcp://host:", "tcp://host:0",
                           "tcp://host:65536", "tcp://host:5x", "tcp://host:123456"}) {
    REQUIRE_THROWS_WITH(Endpoint::parse(text), Catch::Contains("is not a tcp address"));
  }
}

TEST_CASE("an ipc path longer than the system's limit is refused", "[transport]") {
  REQUIRE_NOTHROW(Endpoint::parse("ipc://" + std::string(107, 'x')));
  REQUIRE_THROWS_WITH(Endpoint::parse("ipc://" + std::string(108, 'x')),
                      Catch::Contains("107 characters"));
}

TEST_CASE("only this machine reaches a local address", "[transport]") {
  for (const char* text : {"tcp://127.0.0.1:1", "tcp://127.8.0.1:1", "tcp://localhost:1",
                           "tcp://[::1]:1", "tcp://[0:0::1]:1", "ipc://x", "inproc://x"}) {
    REQUIRE(Endpoint::parse(text).is_local());
  }
  for (const char* text : {"tcp://0.0.0.0:1", "tcp://*:1", "tcp://eth0:1", "tcp://10.0.0.1:1",
                           "tcp://[::]:1", "tcp://127.example.com:1"}) {
    INFO(text);
    REQUIRE_FALSE(Endpoint::parse(text).is_local());
  }
}

}  // namespace
}  // namespace pacml::transport

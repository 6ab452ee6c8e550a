#include "tests/support/addresses.h"

#include <set>

#include "common/asio.h"
#include "tests/support/catch.h"
#include "tests/support/program.h"

namespace pacml {
namespace {

using asio::ip::tcp;

TEST_CASE("ports are handed out once, and nobody listens there", "[unit][support]") {
  std::set<int> seen;
  asio::io_context io;
  for (int i = 0; i < 3; ++i) {
    const int first = testing::sixteen_ports();
    for (int port = first; port < first + 16; ++port) {
      CHECK(seen.insert(port).second);
      const tcp::acceptor server(io, {tcp::v4(), static_cast<unsigned short>(port)});
    }
  }
}

TEST_CASE("a network of this machine is one process's, until it ends", "[unit][support]") {
  const std::string host = testing::loopback_host(2);
  CHECK(testing::loopback_host(2) == host);
  CHECK(testing::loopback_host(3) != host);
  // Names that are held show in the kernel's list of sockets.
  const std::string held = "@pacml-test-" + host.substr(0, host.rfind('.')) + "\n";
  CHECK_THAT(testing::text_of("/proc/net/unix"), Catch::Contains(held));
}

}  // namespace
}  // namespace pacml

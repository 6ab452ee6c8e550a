#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "common/asio.h"
#include "common/transport/dealer.h"
#include "common/transport/publisher.h"
#include "common/transport/router.h"
#include "common/transport/subscriber.h"
#include "common/transport/zmq_socket.h"
#include "common/try_again.h"
#include "tests/support/addresses.h"
#include "tests/support/catch.h"
#include "tests/support/no_more_files.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace pacml::transport {
namespace {

using namespace std::chrono_literals;

wire::Frame frame_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {{Bytes(bytes.begin(), bytes.end())}};
}

const Endpoint kAnyPort = Endpoint::parse("tcp://127.0.0.1:*");

TEST_CASE("a free port is chosen and told", "[transport]") {
  Context context;
  const Router router(context, kAnyPort);
  REQUIRE(router.endpoint().host() == "127.0.0.1");
  REQUIRE(router.endpoint().port() != "*");
}

TEST_CASE("messages go over IPv6 where its address is written out", "[transport]") {
  const Endpoint any_port = Endpoint::parse("tcp://[::1]:*");
  asio::io_context io;
  asio::ip::tcp::acceptor probe(io);
  boost::system::error_code error;
  probe.open(asio::ip::tcp::v6(), error);
  if (!error) probe.bind({asio::ip::make_address("::1"), 0}, error);
  if (error) {
    WARN("skipped: this machine has no IPv6");
    return;
  }
  Context context;
  Router router(context, any_port);
  CHECK(router.endpoint().host() == "::1");
  Dealer dealer(context, router.endpoint());
  REQUIRE(dealer.send(frame_of("over six"), testing::soon()));
  const auto got = router.receive(testing::soon());
  REQUIRE(got);
  CHECK(got->frame == frame_of("over six"));
}

TEST_CASE("an address in use is the user's to mend", "[transport]") {
  Context context;
  SECTION("tcp") {
    const Router first(context, kAnyPort);
    const std::string sentence =
        "cannot bind " + first.endpoint().str() + ": the address is already in use";
    REQUIRE_THROWS_WITH(Router(context, first.endpoint()), sentence);
    REQUIRE_THROWS_WITH(Publisher(context, first.endpoint()), sentence);
  }
  SECTION("ipc, which libzmq would take over silently") {
    const testing::TempDir folder;
    const Endpoint endpoint = Endpoint::parse("ipc://" + (folder / "s").string());
    const Router first(context, endpoint);
    REQUIRE_THROWS_WITH(Router(context, endpoint), Catch::Contains("already in use"));
  }
  SECTION("inproc") {
    const Endpoint endpoint = Endpoint::parse("inproc://x");
    const Router first(context, endpoint);
    REQUIRE_THROWS_WITH(Router(context, endpoint), Catch::Contains("already in use"));
  }
}

TEST_CASE("an ipc path that a dead process left is taken over", "[transport]") {
  const testing::TempDir folder;
  const Endpoint endpoint = Endpoint::parse("ipc://" + (folder / "s").string());
  {
    // As kill -9 leaves it: the path is there, nobody listens.
    sockaddr_storage storage{};
    storage.ss_family = AF_UNIX;
    const std::string& path = endpoint.path();
    std::copy(path.begin(), path.end(), reinterpret_cast<char*>(&storage) + sizeof(sa_family_t));
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&storage),
                   static_cast<socklen_t>(sizeof(sa_family_t) + path.size() + 1)) == 0);
    ::close(fd);
  }
  Context context;
  REQUIRE_NOTHROW(Router(context, endpoint));
}

TEST_CASE("an ipc socket is for this user's processes from its first moment", "[transport]") {
  const testing::TempDir folder;
  const Endpoint endpoint = Endpoint::parse("ipc://" + (folder / "s").string());
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  REQUIRE(::inotify_add_watch(watch, folder.path().c_str(), IN_CREATE | IN_ATTRIB) >= 0);
  const mode_t before = ::umask(0);
  Context context;
  const Router router(context, endpoint);
  ::umask(before);
  struct stat file {};
  REQUIRE(::stat(endpoint.path().c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
  // Nobody had to mend it: that would have been later.
  alignas(inotify_event) std::array<char, 4096> events{};
  const auto bytes = ::read(watch, events.data(), events.size());
  ::close(watch);
  REQUIRE(bytes > 0);
  std::uint32_t seen = 0;
  for (std::ptrdiff_t at = 0; at < bytes;) {
    const auto* const event = reinterpret_cast<const inotify_event*>(events.data() + at);
    seen |= event->mask;
    at += static_cast<std::ptrdiff_t>(sizeof(inotify_event) + event->len);
  }
  CHECK((seen & IN_CREATE) != 0);
  CHECK((seen & IN_ATTRIB) == 0);
}

TEST_CASE("a file that is no socket is not replaced by one", "[transport]") {
  const testing::TempDir folder;
  std::ofstream(folder / "s") << "precious";
  Context context;
  const Endpoint endpoint = Endpoint::parse("ipc://" + (folder / "s").string());
  REQUIRE_THROWS_WITH(Router(context, endpoint), Catch::Contains("no socket"));
  CHECK(std::filesystem::file_size(folder / "s") == 8);
}

TEST_CASE("an ipc socket that the system has no descriptor for now may be tried again",
          "[transport]") {
  const testing::TempDir folder;
  const Endpoint endpoint = Endpoint::parse("ipc://" + (folder / "s").string());
  const SocketConfig config{};
  Context context;
  zmq::socket_t socket = make_socket(context, zmq::socket_type::router, config);
  const auto thrown = testing::thrown_without_files(
      [&] { static_cast<void>(bind_socket(context, socket, endpoint, config)); });
  REQUIRE(thrown);
  CHECK_THROWS_AS(std::rethrow_exception(thrown), TryAgainError);
}

TEST_CASE("who sends a message that does not end is cut off, and the others are not",
          "[transport]") {
  Context context;
  SocketConfig config;
  config.max_part_bytes = 1 << 16;
  Router router(context, Endpoint::parse("tcp://127.0.0.1:*"), config);
  Dealer honest(context, router.endpoint(), config);
  asio::io_context io;
  asio::ip::tcp::socket endless(io);
  endless.connect({asio::ip::make_address("127.0.0.1"),
                   static_cast<unsigned short>(std::stoi(router.endpoint().port()))});
  // ZMTP 3.0 without encryption: the greeting, READY of a DEALER, and then parts of which each says
  // that there are more.
  std::string bytes("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16);
  bytes += std::string(48, '\0');
  bytes += std::string("\x04\x1c\5READY\x0bSocket-Type\0\0\0\6DEALER", 30);
  asio::write(endless, asio::buffer(bytes));
  std::array<char, 64 + 43>
      answer{};  // its greeting, and READY of a ROUTER: only then may one go on
  asio::read(endless, asio::buffer(answer));
  const std::string part = std::string("\3\0\0\0\0\0\0\x80\0", 9) + std::string(0x8000, 'x');
  endless.non_blocking(true);
  const Deadline deadline = testing::soon();
  std::uint64_t sent = 0;
  std::uint64_t heard = 0;
  boost::system::error_code error;
  do {
    REQUIRE_FALSE(deadline.expired());
    error = {};
    // By and by: the bound is of bytes, not of time.
    if (sent < (1U << 23)) {
      const std::string_view rest = std::string_view(part).substr(sent % part.size());
      sent += endless.write_some(asio::buffer(rest.data(), rest.size()), error);
    }
    if (sent >= (1U << 23)) {
      std::array<char, 64> greeting{};
      endless.read_some(asio::buffer(greeting), error);
    }
    if (error == asio::error::would_block) error = {};
    REQUIRE(honest.send(wire::Frame{{Bytes(1000)}}, testing::soon()));
    if (router.receive(Deadline::in(std::chrono::milliseconds(10)))) ++heard;
  } while (!error);
  INFO(error.message());
  CHECK(sent > (1U << 18));  // what a message may have is not too much
  // The honest one is still there.
  const std::uint64_t before = heard;
  while (heard < before + 3) {
    REQUIRE_FALSE(deadline.expired());
    REQUIRE(honest.send(wire::Frame{{Bytes(1000)}}, testing::soon()));
    if (router.receive(Deadline::in(std::chrono::milliseconds(10)))) ++heard;
  }
}

TEST_CASE("an address of no interface here is the user's to mend", "[transport]") {
  Context context;
  SocketConfig config;
  config.allow_insecure_bind = true;
  REQUIRE_THROWS_AS(Router(context, Endpoint::parse("tcp://203.0.113.7:5555"), config), UserError);
  REQUIRE_THROWS_AS(Router(context, Endpoint::parse("ipc:///no/such/folder/s")), UserError);
}

TEST_CASE("an address that others reach needs an explicit word", "[transport]") {
  Context context;
  REQUIRE_THROWS_WITH(
      Router(context, Endpoint::parse("tcp://0.0.0.0:*")),
      Catch::Contains("other hosts can reach") && Catch::Contains("allow_insecure_bind"));
  SocketConfig config;
  config.allow_insecure_bind = true;
  REQUIRE_NOTHROW(Router(context, Endpoint::parse("tcp://0.0.0.0:*"), config));
}

TEST_CASE("a client may connect before its server is there", "[transport]") {
  const testing::TempDir folder;
  const Endpoint endpoint = Endpoint::parse("ipc://" + (folder / "s").string());
  Context context;
  Dealer dealer(context, endpoint);
  REQUIRE(dealer.send(frame_of("early"), testing::soon()));
  Router router(context, endpoint);
  const auto got = router.receive(testing::soon());
  REQUIRE(got);
  REQUIRE(got->frame == frame_of("early"));
}

TEST_CASE("a client finds a server that restarted, as a new peer", "[transport]") {
  Context context;
  std::optional<Router> router(std::in_place, context,
                               Endpoint::parse("tcp://" + testing::loopback_host(2) + ":5555"));
  const Endpoint endpoint = router->endpoint();
  SocketConfig config;
  config.reconnect_min_ms = 10;
  config.reconnect_max_ms = 20;
  Dealer dealer(context, endpoint, config);
  REQUIRE(dealer.send(frame_of("one"), testing::soon()));
  const auto first = router->receive(testing::soon());
  REQUIRE(first);
  router.reset();
  // The old listener closes on libzmq's own thread.
  const Deadline patience = testing::soon();
  while (!router && !patience.expired()) {
    try {
      router.emplace(context, endpoint);
    } catch (const UserError&) {
    }
  }
  REQUIRE(router);
  // What was on the way when the connection broke may be lost: send until something arrives.
  Result<Incoming> second = fail(Errc::kTimeout);
  while (!second && !patience.expired()) {
    static_cast<void>(dealer.send(frame_of("two"), Deadline::in(100ms)));
    second = router->receive(Deadline::in(20ms));
  }
  REQUIRE(second);
  REQUIRE(second->frame == frame_of("two"));
  REQUIRE(router->send(second->peer, frame_of("reply")));
  REQUIRE(dealer.receive(testing::soon()) == frame_of("reply"));
}

TEST_CASE("a part above the limit costs the sender its connection, not the server", "[transport]") {
  Context context;
  SocketConfig small;
  small.max_part_bytes = 1024;
  Router router(context, kAnyPort, small);
  Dealer rude(context, router.endpoint());
  REQUIRE(rude.send(wire::Frame{{Bytes(4096)}}, testing::soon()));
  Dealer polite(context, router.endpoint());
  REQUIRE(polite.send(frame_of("hello"), testing::soon()));
  const auto got = router.receive(testing::soon());
  REQUIRE(got);
  REQUIRE(got->frame == frame_of("hello"));
}

TEST_CASE("a frame of very many parts is cut while it is received", "[transport]") {
  Context context;
  Router router(context, kAnyPort);
  Dealer dealer(context, router.endpoint());
  REQUIRE(dealer.send(wire::Frame{std::vector<Bytes>(1000, Bytes(1))}, testing::soon()));
  const auto got = router.receive(testing::soon());
  REQUIRE(got);
  REQUIRE(got->frame.parts.size() == wire::kMaxParts + 1);
  REQUIRE(dealer.send(frame_of("next"), testing::soon()));
  REQUIRE(router.receive(testing::soon())->frame == frame_of("next"));
}

}  // namespace
}  // namespace pacml::transport

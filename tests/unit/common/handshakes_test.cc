// Who may talk to an encrypted server, over real sockets, and what the others are told.

#include <sys/stat.h>
#include <zmq.h>

#include <chrono>
#include <fstream>
#include <string>

#include "common/transport/dealer.h"
#include "common/transport/handshake_trouble.h"
#include "common/transport/publisher.h"
#include "common/transport/router.h"
#include "common/transport/subscriber.h"
#include "tests/support/catch.h"
#include "tests/support/key_folder.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace pacml::transport {
namespace {

using namespace std::chrono_literals;
using testing::KeyFolder;

constexpr auto kWatched = Dealer::Handshakes::kWatched;
const Endpoint kAnyPort = Endpoint::parse("tcp://127.0.0.1:*");

wire::Frame frame_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {{Bytes(bytes.begin(), bytes.end())}};
}

SocketConfig quick() {
  SocketConfig config;
  config.reconnect_min_ms = config.reconnect_max_ms = 20;
  return config;
}

// What keeps a client from its server; waits for it.
Trouble trouble_of(FrameClient& client) {
  const Deadline deadline = testing::soon();
  while (true) {
    if (const auto trouble = client.trouble()) return *trouble;
    REQUIRE_FALSE(deadline.expired());
    static_cast<void>(client.receive(Deadline::in(10ms)));
  }
}

// Whether a client that says something is heard, and answered.
bool is_served(Dealer& client, Router& router) {
  if (!client.send(frame_of("hello"), testing::soon())) return false;
  const auto got = router.receive(testing::soon());
  if (!got || got->frame != frame_of("hello")) return false;
  return router.send(got->peer, frame_of("reply")) &&
         client.receive(testing::soon()) == frame_of("reply");
}

TEST_CASE("a client of the list is served, over tcp and ipc", "[transport][security]") {
  const KeyFolder keys;
  const testing::TempDir folder;
  const bool over_tcp = GENERATE(true, false);
  const Endpoint at = over_tcp ? kAnyPort : Endpoint::parse("ipc://" + (folder / "s").string());
  Context server(1, keys.server());
  Router router(server, at);
  Context client(1, keys.client());
  Dealer dealer(client, router.endpoint(), {}, kWatched);
  CHECK(is_served(dealer, router));
  CHECK(router.denied() == 0);
  CHECK_FALSE(dealer.trouble());
  // The learner is a client as well: of replay shards.
  Context learner(1, keys.server());
  Dealer to_shard(learner, router.endpoint());
  CHECK(is_served(to_shard, router));
}

TEST_CASE("whoever holds an unknown key, the wrong one or none is told so, and never heard",
          "[transport][security]") {
  const KeyFolder keys;
  Context server(1, keys.server());
  Router router(server, kAnyPort);
  const std::string address = "the server at " + router.endpoint().str();
  SECTION("an unknown key") {
    const KeyFolder other;
    Encryption unknown = other.client();
    unknown.server_public_key = keys.server().own.public_key;
    Context client(1, unknown);
    Dealer dealer(client, router.endpoint(), quick(), kWatched);
    static_cast<void>(dealer.send(frame_of("let me in"), Deadline::in(1s)));
    const Trouble trouble = trouble_of(dealer);
    CHECK(trouble.reason ==
          address + " does not allow our key: it is not in its list of allowed clients");
    CHECK(trouble.lasting);
    CHECK(router.denied() == 1);
    CHECK_FALSE(router.receive(Deadline::in(200ms)));
  }
  SECTION("no key") {
    Context client;
    Dealer dealer(client, router.endpoint(), quick(), kWatched);
    static_cast<void>(dealer.send(frame_of("in the clear"), Deadline::in(1s)));
    CHECK_THAT(trouble_of(dealer).reason,
               Catch::StartsWith(address) && Catch::Contains("wants keys, and we have none"));
    CHECK_FALSE(router.receive(Deadline::in(200ms)));
  }
  SECTION("the key of another server") {
    const KeyFolder other;
    Context client(1, other.client());
    Dealer dealer(client, router.endpoint(), quick(), kWatched);
    static_cast<void>(dealer.send(frame_of("who are you"), Deadline::in(1s)));
    const Trouble trouble = trouble_of(dealer);
    CHECK_THAT(trouble.reason, Catch::StartsWith(address + " breaks off the handshake") &&
                                   Catch::Contains("server.pub here is probably not its key"));
    CHECK_FALSE(trouble.lasting);
    CHECK_FALSE(router.receive(Deadline::in(200ms)));
    CHECK(router.denied() == 0);  // it never got as far as showing a key
  }
  Context friendly(1, keys.client());
  Dealer dealer(friendly, router.endpoint());
  CHECK(is_served(dealer, router));
}

TEST_CASE("a client with keys says nothing to a server without", "[transport][security]") {
  const KeyFolder keys;
  Context clear;
  Router router(clear, kAnyPort);
  Context client(1, keys.client());
  Dealer dealer(client, router.endpoint(), quick(), kWatched);
  static_cast<void>(dealer.send(frame_of("secret"), Deadline::in(1s)));
  CHECK_THAT(trouble_of(dealer).reason,
             Catch::Contains("does not encrypt") || Catch::Contains("or it has none"));
  CHECK_FALSE(router.receive(Deadline::in(200ms)));
}

TEST_CASE("announcements are for clients of the list only", "[transport][security]") {
  const KeyFolder keys;
  Context server(1, keys.server());
  Publisher publisher(server, kAnyPort);
  Context friendly(1, keys.client());
  Subscriber subscriber(friendly, publisher.endpoint());
  Context clear;
  Subscriber stranger(clear, publisher.endpoint());
  Result<wire::Frame> heard = fail(Errc::kTimeout);
  const Deadline deadline = testing::soon();
  while (!heard && !deadline.expired()) {
    REQUIRE(publisher.publish(frame_of("news")));
    heard = subscriber.latest(Deadline::in(20ms));
  }
  REQUIRE(heard);
  CHECK_FALSE(stranger.latest(Deadline::in(200ms)));
}

TEST_CASE(
    "a key that is taken from the list is refused from its next connection on, one that is "
    "added is let in",
    "[transport][security]") {
  const KeyFolder keys;
  Context server(1, keys.server());
  Router router(server, kAnyPort);
  Context client(1, keys.client());
  {
    Dealer before(client, router.endpoint());
    REQUIRE(is_served(before, router));
  }
  keys.revoke("actor");
  {
    Dealer after(client, router.endpoint(), quick(), kWatched);
    CHECK(trouble_of(after).lasting);
    CHECK(router.denied() > 0);
  }
  add_client_key(keys.path(), "late");
  Context late(1, keys.client("late"));
  Dealer dealer(late, router.endpoint());
  CHECK(is_served(dealer, router));
}

TEST_CASE("a broken list keeps nobody out who was in it, and lets nobody in",
          "[transport][security]") {
  const KeyFolder keys;
  Context server(1, keys.server());
  Router router(server, kAnyPort);
  std::ofstream(keys / "allowed_clients") << "nonsense\n";
  Context client(1, keys.client());
  Dealer dealer(client, router.endpoint());
  CHECK(is_served(dealer, router));
  std::ofstream(keys / "allowed_clients") << "# nobody\n";
  Dealer again(client, router.endpoint(), quick(), kWatched);
  CHECK(trouble_of(again).lasting);  // that is a list
}

TEST_CASE("with keys, an address that others reach may be bound", "[transport][security]") {
  const KeyFolder keys;
  Context server(1, keys.server());
  CHECK_NOTHROW(Router(server, Endpoint::parse("tcp://0.0.0.0:*")));
  Context clear;
  CHECK_THROWS_WITH(
      Router(clear, Endpoint::parse("tcp://0.0.0.0:*")),
      Catch::Contains("pacml keygen") && Catch::Contains("transport.allow_insecure_bind"));
}

TEST_CASE("an ipc socket is its owner's alone, whatever the umask", "[transport][security]") {
  const testing::TempDir folder;
  const std::string path = folder / "s";
  const mode_t former = ::umask(0);
  Context context;
  const Router router(context, Endpoint::parse("ipc://" + path));
  ::umask(former);
  struct stat file {};
  REQUIRE(::stat(path.c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
}

TEST_CASE("a context with keys is stopped and destroyed like any other", "[transport][security]") {
  const KeyFolder keys;
  { Context never_used(1, keys.server()); }
  Context context(1, keys.server());
  Router router(context, kAnyPort);
  context.stop();
  const auto got = router.receive(testing::soon());
  REQUIRE_FALSE(got);
  CHECK(got.error().code == Errc::kStopped);
}

TEST_CASE("trouble with handshakes is told as long as it lasts", "[transport][security]") {
  constexpr std::uint16_t kAuth = ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  constexpr std::uint16_t kVague = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
  HandshakeTrouble trouble("tcp://there:1", true, 10s);
  const TimePoint begin{};
  CHECK_FALSE(trouble.now(begin));
  trouble.heard(kVague, 0, begin - 1s);
  CHECK_FALSE(trouble.now(begin - 1s));  // a server that comes breaks off once
  trouble.heard(kVague, 0, begin);
  CHECK_FALSE(trouble.now(begin + 9s)->lasting);
  SECTION("until a handshake goes well") {
    trouble.heard(ZMQ_EVENT_HANDSHAKE_SUCCEEDED, 0, begin + 6s);
    CHECK_FALSE(trouble.now(begin + 6s));
  }
  SECTION("or there has long been none") { CHECK_FALSE(trouble.now(begin + 11s)); }
  SECTION("which a refusal does") {
    trouble.heard(kAuth, 400, begin + 4s);
    CHECK(trouble.now(begin + 100s)->lasting);
  }
}

}  // namespace
}  // namespace pacml::transport

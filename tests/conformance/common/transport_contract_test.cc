#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/transport/channel.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"
#include "tests/support/transport_pairs.h"

namespace pacml::transport {
namespace {

using namespace std::chrono_literals;
using testing::InProcessPair;
using testing::soon;
using testing::ZmqCurvePair;
using testing::ZmqInprocPair;
using testing::ZmqIpcPair;
using testing::ZmqTcpPair;
using wire::Frame;

Bytes bytes_from(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

Frame frame_of(int number) { return {{bytes_from("frame " + std::to_string(number))}}; }

TEMPLATE_TEST_CASE("transport contract", "[conformance][transport]", InProcessPair, ZmqInprocPair,
                   ZmqIpcPair, ZmqTcpPair, ZmqCurvePair) {
  TestType link;
  auto server = link.make_server();
  auto client = link.connect();
  // The server learns of a client by its first frame.
  const auto greet = [&](FrameClient& who) {
    REQUIRE(who.send(frame_of(-1), soon()));
    auto hello = server->receive(soon());
    REQUIRE(hello);
    return hello->peer;
  };

  SECTION("frames arrive whole and in order, both ways") {
    const PeerId peer = greet(*client);
    for (int i = 0; i < 100; ++i) {
      REQUIRE(client->send(frame_of(i), soon()));
      const auto got = server->receive(soon());
      REQUIRE(got);
      REQUIRE(got->peer == peer);
      REQUIRE(got->frame == frame_of(i));
      REQUIRE(server->send(peer, frame_of(i)));
      REQUIRE(client->receive(soon()) == frame_of(i));
    }
  }
  SECTION("parts keep their number, sizes and bytes") {
    Frame frame{{bytes_from("envelope"), Bytes{}, Bytes(1'000'000, std::byte{0xA5}), Bytes(1)}};
    const Frame copy = frame;
    REQUIRE(client->send(std::move(frame), soon()));
    const auto got = server->receive(soon());
    REQUIRE(got);
    REQUIRE(got->frame == copy);
  }
  SECTION("two clients are two peers, and answers find their way") {
    auto other = link.connect();
    const PeerId first = greet(*client);
    const PeerId second = greet(*other);
    REQUIRE(first != second);
    REQUIRE(server->send(second, frame_of(2)));
    REQUIRE(server->send(first, frame_of(1)));
    REQUIRE(client->receive(soon()) == frame_of(1));
    REQUIRE(other->receive(soon()) == frame_of(2));
  }
  SECTION("a wait ends at its deadline") {
    REQUIRE(client->receive(Deadline::now()).error().code == Errc::kTimeout);
    REQUIRE(client->receive(Deadline::in(2ms)).error().code == Errc::kTimeout);
    REQUIRE(server->receive(Deadline::now()).error().code == Errc::kTimeout);
    REQUIRE(server->receive(Deadline::in(2ms)).error().code == Errc::kTimeout);
  }
  SECTION("a wake from another thread ends a wait without a deadline") {
    std::thread waker([&] {
      server->wake();
      client->wake();
    });
    REQUIRE(server->receive(Deadline::never()).error().code == Errc::kTimeout);
    REQUIRE(client->receive(Deadline::never()).error().code == Errc::kTimeout);
    waker.join();
  }
  SECTION("many wakes end one wait") {
    for (int i = 0; i < 10; ++i) server->wake();
    REQUIRE(server->receive(Deadline::never()).error().code == Errc::kTimeout);
    greet(*client);
  }
  SECTION("a full queue times out and keeps the frame") {
    constexpr int kFarTooMany = 10'000;
    Result<void> sent;
    Frame frame;
    for (int i = 0; i < kFarTooMany && sent; ++i) {
      frame = Frame{{Bytes(100'000)}};
      sent = client->send(std::move(frame), Deadline::in(20ms));
    }
    REQUIRE_FALSE(sent.has_value());
    REQUIRE(sent.error().code == Errc::kTimeout);
    REQUIRE(frame == Frame{{Bytes(100'000)}});
    // Making room lets it through.
    REQUIRE(server->receive(soon()));
    std::jthread drain([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) static_cast<void>(server->receive(Deadline::in(10ms)));
    });
    REQUIRE(client->send(std::move(frame), soon()));
  }
  SECTION("a slow client's full queue never holds up the server") {
    constexpr int kFarTooMany = 10'000;
    const PeerId peer = greet(*client);
    Result<void> sent;
    Frame frame;
    for (int i = 0; i < kFarTooMany && sent; ++i) {
      frame = Frame{{Bytes(100'000)}};
      sent = server->send(peer, std::move(frame));
    }
    REQUIRE_FALSE(sent.has_value());
    REQUIRE(sent.error().code == Errc::kTimeout);
    REQUIRE(frame == Frame{{Bytes(100'000)}});
    auto other = link.connect();
    REQUIRE(server->send(greet(*other), frame_of(1)));
    REQUIRE(other->receive(soon()) == frame_of(1));
  }
  SECTION("nobody is kDisconnected, and so becomes a client that left") {
    Frame frame = frame_of(1);
    REQUIRE(server->send(PeerId{"nobody"}, std::move(frame)).error().code == Errc::kDisconnected);
    REQUIRE(frame == frame_of(1));
    const PeerId peer = greet(*client);
    client.reset();
    const Deadline patience = soon();
    Result<void> sent;
    while (!patience.expired()) {
      sent = server->send(peer, frame_of(1));
      if (!sent && sent.error().code == Errc::kDisconnected) break;
      // A queue may fill before the departure is noticed.
      static_cast<void>(server->receive(Deadline::in(1ms)));
    }
    REQUIRE(sent.error().code == Errc::kDisconnected);
  }
  SECTION("stop ends every wait with kStopped, for good") {
    auto publisher = link.make_publisher();
    auto subscriber = link.subscribe();
    std::thread stopper([&] { link.stop(); });
    REQUIRE(server->receive(Deadline::never()).error().code == Errc::kStopped);
    REQUIRE(client->receive(Deadline::never()).error().code == Errc::kStopped);
    REQUIRE(subscriber->latest(Deadline::never()).error().code == Errc::kStopped);
    stopper.join();
    REQUIRE(client->send(frame_of(1), Deadline::now()).error().code == Errc::kStopped);
    REQUIRE(server->send(PeerId{"x"}, frame_of(1)).error().code == Errc::kStopped);
  }
}

TEMPLATE_TEST_CASE("announcement contract", "[conformance][transport]", InProcessPair,
                   ZmqInprocPair, ZmqIpcPair, ZmqTcpPair, ZmqCurvePair) {
  TestType link;
  auto publisher = link.make_publisher();
  auto subscriber = link.subscribe();
  // A subscription takes a while to arrive: announce until it is heard.
  const auto first_heard = [&](FrameSubscriber& who) {
    const Deadline patience = soon();
    Result<Frame> heard = fail(Errc::kTimeout);
    while (!heard && !patience.expired()) {
      REQUIRE(publisher->publish(frame_of(0)));
      heard = who.latest(Deadline::in(10ms));
    }
    return heard.has_value();
  };

  SECTION("silence is kTimeout") {
    REQUIRE(subscriber->latest(Deadline::now()).error().code == Errc::kTimeout);
  }
  SECTION("a late reader gets the newest and none of the older") {
    REQUIRE(first_heard(*subscriber));
    REQUIRE(publisher->publish(frame_of(1)));
    REQUIRE(publisher->publish(frame_of(2)));
    if (TestType::kDeliversAtOnce) {
      REQUIRE(subscriber->latest(soon()) == frame_of(2));
      REQUIRE(subscriber->latest(Deadline::in(2ms)).error().code == Errc::kTimeout);
    } else {
      // An older one may come alone; and where the thread that sends gets no turn, the queue is
      // full and drops the newest: it is announced until it is heard.
      const Deadline patience = soon();
      Result<Frame> heard = subscriber->latest(Deadline::in(10ms));
      while (heard != frame_of(2) && !patience.expired()) {
        REQUIRE(publisher->publish(frame_of(2)));
        heard = subscriber->latest(Deadline::in(10ms));
      }
      REQUIRE(heard == frame_of(2));
      while (const auto later = subscriber->latest(Deadline::in(2ms))) {
        REQUIRE(*later == frame_of(2));
      }
    }
  }
  SECTION("every subscriber hears") {
    auto other = link.subscribe();
    REQUIRE(first_heard(*subscriber));
    REQUIRE(first_heard(*other));
  }
  SECTION("nobody listening is no error") {
    subscriber.reset();
    REQUIRE(publisher->publish(frame_of(1)));
  }
}

}  // namespace
}  // namespace pacml::transport

#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "common/transport/in_process.h"
#include "learner/replicas/board.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"

namespace pacml::learner {
namespace {

// A board and a process that serves it.
struct Served {
  explicit Served(const BoardLimits& limits = {}) : board(limits) {
    thread = std::jthread([this, server = std::shared_ptr(hub.make_server())](
                              const std::stop_token& stop) { serve_board(board, *server, stop); });
  }
  transport::InProcessHub hub;
  LocalBoard board;
  std::jthread thread;
};

TEST_CASE("what one process puts on the board, another one reads", "[unit][learner]") {
  Served served;
  const auto link = served.hub.connect();
  const auto other_link = served.hub.connect();
  RemoteBoard writer(*link);
  RemoteBoard reader(*other_link);
  CHECK(reader.get("a").value() == std::nullopt);
  REQUIRE(writer.put("a", std::string("1\0\n2", 4)));
  CHECK(reader.get("a").value() == std::string("1\0\n2", 4));
  REQUIRE(writer.put("a", ""));
  CHECK(reader.get("a").value() == "");
  CHECK(served.board.get("a").value() == "");
}

TEST_CASE("the board takes no more than its limits", "[unit][learner]") {
  Served served({.keys = 2, .key_bytes = 3, .value_bytes = 4});
  const auto link = served.hub.connect();
  RemoteBoard board(*link);
  REQUIRE(board.put("a", "1234"));
  REQUIRE(board.put("b", ""));
  CHECK(board.put("c", "").error().code == Errc::kOverLimit);
  CHECK(board.put("long", "").error().code == Errc::kOverLimit);
  CHECK(board.put("a", "12345").error().code == Errc::kOverLimit);
  CHECK(board.put("a", "4321"));
  served.board.erase_all("b");
  CHECK(board.put("c", ""));
}

// A server whose clients all show the key of that holder.
class HeldBy final : public transport::FrameServer {
 public:
  HeldBy(transport::FrameServer& inner, std::string key_name)
      : inner_(&inner), key_name_(std::move(key_name)) {}
  Result<transport::Incoming> receive(Deadline deadline) override {
    auto incoming = inner_->receive(deadline);
    if (incoming) incoming->key_name = key_name_;
    return incoming;
  }
  Result<void> send(const transport::PeerId& peer, wire::Frame&& frame) override {
    return inner_->send(peer, std::move(frame));
  }
  void wake() override { inner_->wake(); }

 private:
  transport::FrameServer* inner_;
  std::string key_name_;
};

TEST_CASE("a board answers the key of the servers, and no actor's", "[unit][learner]") {
  const auto answered = [](const std::string& key_name) {
    transport::InProcessHub hub;
    const auto inner = hub.make_server();
    HeldBy server(*inner, key_name);
    LocalBoard board;
    const std::jthread thread(
        [&](const std::stop_token& stop) { serve_board(board, server, stop); });
    const auto link = hub.connect();
    const bool was_put =
        RemoteBoard(*link, std::chrono::milliseconds(key_name == "server" ? 120'000 : 300))
            .put("over", "1")
            .has_value();
    CHECK(board.get("over").value().has_value() == was_put);
    return was_put;
  };
  CHECK(answered("server"));
  CHECK_FALSE(answered("actor"));
}

TEST_CASE("a board that nobody serves is a timeout", "[unit][learner]") {
  transport::InProcessHub hub;
  const auto server = hub.make_server();
  const auto link = hub.connect();
  RemoteBoard board(*link, std::chrono::milliseconds(20));
  CHECK(board.get("a").error().code == Errc::kTimeout);
  CHECK(board.put("a", "1").error().code == Errc::kTimeout);
}

TEST_CASE("an answer that comes late is not taken for the next one", "[unit][learner]") {
  transport::InProcessHub hub;
  const auto server = hub.make_server();
  const auto link = hub.connect();
  LocalBoard local;
  REQUIRE(local.put("a", "of a"));
  REQUIRE(local.put("b", "of b"));
  RemoteBoard impatient(*link, std::chrono::milliseconds(20));
  CHECK(impatient.get("a").error().code == Errc::kTimeout);
  // Whoever serves now answers that request first.
  const std::jthread thread(
      [&](const std::stop_token& stop) { serve_board(local, *server, stop); });
  Result<std::optional<std::string>> answer = fail(Errc::kTimeout);
  for (const Deadline deadline = testing::soon(); !answer && !deadline.expired();) {
    answer = impatient.get("b");
  }
  CHECK(answer.value() == "of b");
}

TEST_CASE("frames that are no requests are not answered, and harm nobody", "[unit][learner]") {
  Served served;
  const auto link = served.hub.connect();
  const auto bytes = [](const std::string& text) {
    Bytes out;
    for (const char c : text) out.push_back(static_cast<std::byte>(c));
    return out;
  };
  for (const auto& parts : std::vector<std::vector<Bytes>>{{},
                                                           {bytes("get 1")},
                                                           {bytes("get 1"), bytes("a")},
                                                           {bytes("get"), bytes("a"), bytes("")},
                                                           {bytes("drop 1"), bytes("a"), bytes("")},
                                                           {Bytes(1000), Bytes(1), Bytes(1)}}) {
    REQUIRE(link->send({parts}, testing::soon()));
  }
  RemoteBoard board(*link, std::chrono::seconds(120));
  REQUIRE(board.put("a", "1"));
  CHECK(board.get("a").value() == "1");
}

}  // namespace
}  // namespace pacml::learner

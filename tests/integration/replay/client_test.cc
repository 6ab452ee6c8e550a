#include <chrono>
#include <memory>
#include <thread>
#include <variant>

#include "tests/support/served_shards.h"

// A learner's client with shards that answer, or read, only as a test wants.

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;

// Holds ten items, and answers when it is told to.
class ScriptedShard {
 public:
  [[nodiscard]] std::unique_ptr<transport::FrameClient> connect() { return hub_.connect(); }

  // The next message of that type; others that come before are dropped.
  template <class M>
  M hear() {
    while (true) {
      auto incoming = server_->receive(soon());
      REQUIRE(incoming);
      learner_ = incoming->peer;
      auto message = wire::decode(incoming->frame);
      REQUIRE(message);
      if (auto* const wanted = std::get_if<M>(&*message)) return std::move(*wanted);
    }
  }
  // Says what it holds, and draws nothing.
  void answer(const wire::Sample& asked) {
    wire::Samples samples;
    samples.request = asked.request;
    samples.transitions = Transitions(kShape);
    samples.shard = {10, 10, 10};
    say(samples);
  }
  // Welcomes the learner, and says what it holds.
  void join() {
    wire::Welcome welcome;
    welcome.run_id = shard_run().run_id;
    welcome.incarnation = hear<wire::Hello>().incarnation;
    say(welcome);
    answer(hear<wire::Sample>());
  }

 private:
  void say(const wire::Message& message) {
    REQUIRE(server_->send(learner_, wire::encode(message)));
  }

  transport::InProcessHub hub_;
  std::unique_ptr<transport::FrameServer> server_ = hub_.make_server();
  transport::PeerId learner_;
};

TEST_CASE("a shard that was passed over is asked again once it owes nothing of before",
          "[integration][replay]") {
  ManualClock clock;
  ScriptedShard slow;
  ScriptedShard quick;
  replay::Client client(shard_hello(wire::Role::kLearner), 2,
                        {.batch_size = 16,
                         .prefetch = 2,
                         .ping_interval = 1h,
                         .silence = 1h,
                         .probe_interval = 1h,
                         .patience = 2s},
                        Seed{3}, clock);
  const auto to_slow = slow.connect();
  const auto to_quick = quick.connect();
  transport::FrameClient* const links[] = {to_slow.get(), to_quick.get()};
  const std::jthread thread([&](const std::stop_token& stop) { client.run(links, stop); });
  const auto slow_when = [&](const std::string& what, const auto& holds) {
    replay::ShardFigures seen;
    wait_until(what, [&] {
      const auto status = client.status();
      if (status.each.empty()) return false;
      seen = status.each[0];
      return holds(status);
    });
    return seen;
  };

  slow.join();
  const auto first = slow.hear<wire::Sample>();
  const auto second = slow.hear<wire::Sample>();
  REQUIRE(first.count + second.count == 32);
  quick.join();
  CHECK_FALSE(slow_when("the quick one is there", [](const auto& status) {
                return status.each[1].items == 10;
              }).late);
  clock.advance(2s);
  CHECK(slow_when("others do what is owed", [](const auto& status) {
          return status.redrawn == 32 && status.each[0].late;
        }).owed == 2);
  slow.answer(first);
  CHECK(slow_when("an answer has come", [](const auto& status) {
          return status.each[0].owed == 1;
        }).late);
  slow.answer(second);
  CHECK_FALSE(slow_when("both have come", [](const auto& status) {
                return status.each[0].owed == 0;
              }).late);
}

// A connection over which no priorities get away.
class LosesUpdates final : public transport::FrameClient {
 public:
  explicit LosesUpdates(std::unique_ptr<transport::FrameClient> inner) : inner_(std::move(inner)) {}
  Result<void> send(wire::Frame&& frame, Deadline deadline) override {
    const auto message = wire::decode(frame);
    if (message && std::holds_alternative<wire::PriorityUpdates>(*message)) {
      return fail(Errc::kTimeout, "the queue is full");
    }
    return inner_->send(std::move(frame), deadline);
  }
  Result<wire::Frame> receive(Deadline deadline) override { return inner_->receive(deadline); }
  void wake() override { inner_->wake(); }

 private:
  std::unique_ptr<transport::FrameClient> inner_;
};

TEST_CASE("priorities for a shard that does not read are counted as lost",
          "[integration][replay]") {
  ServedShard shard;
  ShardPeer actor(shard, shard_hello(wire::Role::kActor));
  actor.insert(1, marked({1}, {1}));
  replay::Client client(shard_hello(wire::Role::kLearner), 1, {.batch_size = 4, .prefetch = 1},
                        Seed{3});
  LosesUpdates link(shard.connect());
  transport::FrameClient* const links[] = {&link};
  const std::jthread thread([&](const std::stop_token& stop) { client.run(links, stop); });
  const auto batch = client.next({}, soon());
  REQUIRE(batch);
  client.report_priorities(batch->ticket, {1, 2, 3, 4});
  wait_until("they are counted", [&] { return client.status().updates_lost > 0; });
  CHECK(client.status().updates_lost == 4);
  CHECK(actor.status().at("updates_applied") == 0);
}

}  // namespace
}  // namespace pacml::testing

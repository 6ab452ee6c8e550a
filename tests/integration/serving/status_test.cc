// What a learner's server says of itself, on its own thread and on others.

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "common/clock.h"
#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/soon.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

// The status on the board once it says so.
template <class Condition>
json board_when(const learner::ExperienceServer& server, Condition holds) {
  for (const Deadline deadline = soon(); !deadline.expired(); std::this_thread::yield()) {
    const auto newest = server.board().newest();
    if (!newest) continue;
    auto status = json::parse(newest->text);
    if (holds(status)) return status;
  }
  FAIL("the board never said so");
  return {};
}

TEST_CASE("another thread reads a server's status from its board, which is kept fresh",
          "[integration][serving]") {
  ServedLearner<InProcessPair> learner;
  const auto first = board_when(learner.server(), [](const json&) { return true; });
  CHECK(first["serves_weights"] == false);
  CHECK(first["actors"] == 0);
  const auto before = learner.server().board().newest()->taken;
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  static_cast<void>(peer.hear<wire::Welcome>());
  learner.server().publish(sample_weights(0));
  const auto later = board_when(learner.server(), [](const json& s) {
    return s["actors"] == 1 && s["serves_weights"] == true;
  });
  CHECK(later["role"] == "learner");
  CHECK(learner.server().board().newest()->taken > before);
  peer.say(wire::GetStatus{});
  // All the same, but for how long nothing has come.
  const auto without_silence = [](json status) {
    for (json& one : status["peers"]) {
      CHECK(one["silent_seconds"] >= 0);
      one.erase("silent_seconds");
    }
    return status;
  };
  const auto answer = json::parse(peer.hear<wire::Status>().text);
  CHECK(answer["peers"].size() == 1);
  CHECK(without_silence(answer) == without_silence(later));
}

TEST_CASE("what learning says is part of the status, and hides nothing of the server's",
          "[integration][serving]") {
  learner::ExperienceServer server(sample_run(), {}, [] {
    return json{{"updates", 7}, {"role", "no learner at all"}};
  });
  InProcessPair pair;
  const auto router = pair.make_server();
  const auto publisher = pair.make_publisher();
  std::jthread thread([&](const std::stop_token& stop) { server.run(*router, *publisher, stop); });
  const auto status = board_when(server, [](const json&) { return true; });
  thread.request_stop();
  router->wake();
  CHECK(status["updates"] == 7);
  CHECK(status["role"] == "learner");
}

TEST_CASE("a run whose name is no text still has a status", "[integration][serving]") {
  auto run = sample_run();
  run.run_id = "run-\xff";
  ServedLearner<InProcessPair> learner({}, run);
  const auto status = board_when(learner.server(), [](const json&) { return true; });
  CHECK(status["run"].get<std::string>().starts_with("run-"));
}

// What a server answers to whoever asks once that says so, while its time goes on: with each step
// it looks once at whether its learner waits.
template <class Condition>
json answer_when(RawPeer& peer, ManualClock& clock, Condition holds) {
  json status;
  wait_until("the status says so", [&] {
    clock.advance(50ms);
    peer.say(wire::GetStatus{});
    status = json::parse(peer.hear<wire::Status>().text);
    return holds(status);
  });
  return status;
}

bool learner_waits(const json& status) { return status["learner_waits"].get<bool>(); }

// How many messages it may send at once.
std::uint64_t credits_after_joining(RawPeer& peer, const wire::Hello& hello) {
  peer.say(hello);
  return peer.hear<wire::Welcome>().credits;
}

// The first message of an actor, which the server keeps for its learner.
template <class Learner>
void send_first_message(Learner& learner, RawPeer& actor, const wire::Hello& hello) {
  actor.say(env::to_message(learner.graph(0)));
  actor.say_experience(1, learner.graph(0), hello);
  learner.counters_when([](const auto& counters) { return counters.accepted == 1; });
}

// A learner's thread that takes whatever there is, and else waits for more.
std::jthread learning_from(learner::ExperienceServer& server) {
  return std::jthread([&server](const std::stop_token& stop) {
    while (const auto received = server.pop(stop, Deadline::never())) server.consumed(*received);
  });
}

TEST_CASE(
    "a learner that others wait for says that more actors would not help, and how many suffice",
    "[integration][serving]") {
  ManualClock clock;
  // Room for four messages of all, which two actors have: the third one goes without.
  ServedLearner<InProcessPair> learner(window_of(24), sample_run(), clock);
  auto first = learner.raw_peer();
  auto second = learner.raw_peer();
  auto third = learner.raw_peer();
  REQUIRE(credits_after_joining(first, able_hello(1)) == 2);
  REQUIRE(credits_after_joining(second, able_hello(2)) == 2);
  REQUIRE(credits_after_joining(third, able_hello(3)) == 0);
  send_first_message(learner, first, able_hello(1));
  const auto status =
      answer_when(third, clock, [](const json& said) { return !learner_waits(said); });
  CHECK(status["limiter"] ==
        "actors wait for the learner: more of them would not help, 2 of 3 would be enough");
  CHECK(status["actors_enough"] == 2);
}

TEST_CASE("a learner that begins to wait for experience says that more actors would help",
          "[integration][serving]") {
  ManualClock clock;
  // Room for all that two actors may have on the way.
  ServedLearner<InProcessPair> learner(window_of(24), sample_run(), clock);
  auto first = learner.raw_peer();
  auto second = learner.raw_peer();
  REQUIRE(credits_after_joining(first, able_hello(1)) == 2);
  REQUIRE(credits_after_joining(second, able_hello(2)) == 2);
  send_first_message(learner, first, able_hello(1));
  const auto busy =
      answer_when(second, clock, [](const json& said) { return !learner_waits(said); });
  CHECK(busy["limiter"] == "actors wait for the learner: more of them would not help");
  CHECK(busy["actors_enough"] == 2);
  const auto learning = learning_from(learner.server());
  const auto starving = answer_when(second, clock, learner_waits);
  CHECK(starving["limiter"] == "the learner waits for experience: more actors would help");
}

TEST_CASE("a learner that waits while as much as may be is under way says that no actor would help",
          "[integration][serving]") {
  ManualClock clock;
  // Room for two messages, which cannot be smaller than they are.
  ServedLearner<InProcessPair> learner(window_of(12), sample_run(), clock);
  const auto unable_hello = [](std::uint32_t actor) {
    auto hello = sample_hello(actor);
    hello.unroll_length = 6;
    return hello;
  };
  auto first = learner.raw_peer();
  auto second = learner.raw_peer();
  REQUIRE(credits_after_joining(first, unable_hello(1)) == 2);
  REQUIRE(credits_after_joining(second, unable_hello(2)) == 0);
  send_first_message(learner, first, unable_hello(1));
  const auto learning = learning_from(learner.server());
  const auto status = answer_when(second, clock, [](const json& said) {
    return said["limiter"].get<std::string>().starts_with("as much is under way");
  });
  CHECK(status["limiter"] ==
        "as much is under way as max_policy_lag allows: more actors would not help, larger updates "
        "would");
  CHECK_FALSE(learner_waits(status));
}

}  // namespace
}  // namespace pacml::testing

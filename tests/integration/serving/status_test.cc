// What a learner's server says of itself, on its own thread and on others.

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

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

}  // namespace
}  // namespace pacml::testing

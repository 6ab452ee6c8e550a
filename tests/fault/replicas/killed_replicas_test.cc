#include <csignal>
#include <string>
#include <vector>

#include "tests/support/pacml_process.h"
#include "tests/support/tiny_run.h"

// Learners of several that die: training goes on, and they come back.

namespace pacml::testing {
namespace {

apps::TrainConfig replicated() {
  apps::TrainConfig config = tiny_config();
  config.learner.replicas = 2;
  config.actors = 2;
  return config;
}

// The process of learner `number` of a `pacml train`.
pid_t learner_of(pid_t train, int number) {
  const std::string bind = number == 0 ? " --leader " : " --replica " + std::to_string(number);
  for (const auto& [pid, command] : children_of(train)) {
    const bool is_learner = command.find("pacml-learner") != std::string::npos;
    const bool follows = command.find(" --replica ") != std::string::npos;
    if (is_learner && follows == (number > 0) && command.find(bind) != std::string::npos) {
      return pid;
    }
  }
  return 0;
}

std::int64_t together(const Workplace& place) {
  const auto lines = place.metrics();
  return lines.empty() ? 0 : lines.back().at("replicas").at("together").get<std::int64_t>();
}

void wait_until_together(const Workplace& place, std::int64_t count) {
  wait_until(std::to_string(count) + " learners are together",
             [&] { return together(place) == count; });
}

void wait_for_more(const Workplace& place) {
  place.wait_for_decisions(place.latest("decisions") + 2'000);
}

// Of the newest line of metrics of learner 1.
std::int64_t latest_of_follower(const Workplace& place, const std::string& key) {
  std::istringstream lines(text_of(place / "run/metrics-1.jsonl"));
  std::string newest;
  for (std::string line; std::getline(lines, line) && !lines.eof();) newest = line;
  return newest.empty() ? 0 : nlohmann::json::parse(newest).at(key).get<std::int64_t>();
}

void stop(const Workplace& place, Pacml& train) {
  train.signal(SIGTERM);
  const int code = train.end();
  INFO(train.err() << place.log("learner") << place.log("learner-1"));
  CHECK(code == 0);
  CHECK(place.metrics().back().at("replicas").at("divergences") == 0);
}

TEST_CASE("when a follower is killed training goes on, and takes it back", "[fault][replicas]") {
  const Workplace place(replicated());
  Pacml train({"train", place.config_file(), "--run", place.run(), "--minutes", "60"});
  wait_until_together(place, 2);
  wait_for_more(place);
  const pid_t former = learner_of(train.pid(), 1);
  REQUIRE(former != 0);
  REQUIRE(::kill(former, SIGKILL) == 0);
  wait_for_more(place);
  wait_until("the follower is back", [&] {
    const pid_t now = learner_of(train.pid(), 1);
    return now != 0 && now != former;
  });
  wait_until("it is taken in", [&] {
    const auto lines = place.metrics();
    const auto& replicas = lines.back().at("replicas");
    return replicas.at("groups") > 1 && replicas.at("together") == 2;
  });
  wait_for_more(place);
  stop(place, train);
}

TEST_CASE("when the leader is killed all go on from its last checkpoint", "[fault][replicas]") {
  const Workplace place(replicated());
  Pacml train({"train", place.config_file(), "--run", place.run(), "--minutes", "60"});
  wait_until_together(place, 2);
  wait_for_more(place);
  const pid_t follower = learner_of(train.pid(), 1);
  const pid_t former = learner_of(train.pid(), 0);
  REQUIRE(former != 0);
  REQUIRE(::kill(former, SIGKILL) == 0);
  wait_until("the leader is back", [&] {
    const pid_t now = learner_of(train.pid(), 0);
    return now != 0 && now != former;
  });
  const std::size_t lines = place.metrics().size();
  wait_until("it writes metrics", [&] { return place.metrics().size() > lines; });
  wait_until_together(place, 2);
  wait_for_more(place);
  CHECK(learner_of(train.pid(), 1) == follower);  // which has waited
  stop(place, train);
}

TEST_CASE("when a follower leaves in order its actors act for another learner",
          "[fault][replicas]") {
  apps::TrainConfig config = replicated();
  config.patience.move_on_seconds = 20;
  config.learner.forget_seconds = 2;
  const Workplace place(config);
  Pacml train({"train", place.config_file(), "--run", place.run(), "--minutes", "60"});
  wait_until_together(place, 2);
  // Where learners were slow to begin, actors have moved on already: their next lives begin anew.
  for (const auto& [pid, command] : children_of(train.pid())) {
    if (command.find("pacml actor") != std::string::npos) ::kill(pid, SIGKILL);
  }
  wait_until("each learner has its actor", [&] {
    return place.latest("actors") == 1 && latest_of_follower(place, "actors") == 1;
  });
  const pid_t follower = learner_of(train.pid(), 1);
  REQUIRE(follower != 0);
  REQUIRE(::kill(follower, SIGTERM) == 0);
  wait_until_together(place, 1);
  wait_until("the leader has the actors of both", [&] { return place.latest("actors") == 2; });
  wait_for_more(place);
  stop(place, train);
}

TEST_CASE("a follower that hangs is left behind, and taken in again when it wakes",
          "[fault][replicas]") {
  apps::TrainConfig config = replicated();
  config.learner.all_reduce_seconds = 1;
  const Workplace place(config);
  Pacml train({"train", place.config_file(), "--run", place.run(), "--minutes", "60"});
  wait_until_together(place, 2);
  const pid_t follower = learner_of(train.pid(), 1);
  REQUIRE(follower != 0);
  REQUIRE(::kill(follower, SIGSTOP) == 0);
  wait_until_together(place, 1);
  wait_for_more(place);
  REQUIRE(::kill(follower, SIGCONT) == 0);
  wait_until_together(place, 2);
  wait_for_more(place);
  INFO(train.err());
  CHECK(learner_of(train.pid(), 1) == follower);
  stop(place, train);
}

}  // namespace
}  // namespace pacml::testing

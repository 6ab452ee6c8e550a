// Roles that do not stop when they are asked to.

#include <filesystem>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"

namespace pacml::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> resume_a_little(const Workplace& place) {
  return train_words(place, {"--resume", "--set", "supervision.stop_seconds=1000", "--decisions",
                             std::to_string(place.latest("decisions") + 2'000)});
}

TEST_CASE("a shard that has to be killed is told, is the exit code, and --resume knows",
          "[fault][supervision]") {
  auto config = tiny_apex_config();
  config.supervision.stop_seconds = 40;
  const Workplace place(config);
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  wait_until("there is a snapshot", [&] { return fs::exists(place / "run" / "replay/shard-1"); });
  const pid_t shard = role_of(train, shard_role(1));
  REQUIRE(shard > 0);
  REQUIRE(::kill(shard, SIGSTOP) == 0);
  train.signal(SIGTERM);
  CHECK(train.end() == 128 + SIGKILL);
  CHECK_THAT(train.err(), Catch::Contains("replay-1 had not stopped yet: killed\n"
                                          "replay-1 was killed by signal 9 (Killed); see "));

  const std::string known =
      "the run's former end: replay-1 was killed before it had left its last snapshot: its table "
      "is older than the checkpoint\n";
  const auto resumed = pacml(resume_a_little(place));
  CHECK(resumed.code == 0);
  CHECK_THAT(resumed.err, Catch::Contains(known));
  const auto again = pacml(resume_a_little(place));
  CHECK(again.code == 0);
  CHECK(again.err.empty());  // whatever was lost is of the past
}

TEST_CASE("a learner that has to be killed is told, and is the exit code", "[fault][supervision]") {
  auto config = tiny_config();
  config.supervision.stop_seconds = 5;
  const Workplace place(config);
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  const pid_t learner = role_of(train, kLearnerRole);
  REQUIRE(learner > 0);
  REQUIRE(::kill(learner, SIGSTOP) == 0);
  train.signal(SIGTERM);
  CHECK(train.end() == 128 + SIGKILL);
  CHECK_THAT(train.err(), Catch::Contains("learner had not stopped yet: killed\n"));
  const auto resumed = pacml(resume_a_little(place));
  CHECK(resumed.code == 0);
  CHECK_THAT(resumed.err, Catch::Contains("the run's former end: the learner was killed before"));
}

TEST_CASE("a last evaluation that would take for ever does not outlast the patience",
          "[fault][supervision]") {
  auto config = tiny_config();
  config.learner.evaluate_seconds = 1e6;
  config.learner.evaluate_episodes = 1'000'000;
  config.supervision.stop_seconds = 120;  // a quarter for the evaluation, the rest for the disk
  const Workplace place(config);
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
  CHECK(train.err().empty());
  CHECK(place.metrics().back()["evaluation"]["score"].is_null());
}

}  // namespace
}  // namespace pacml::testing

// Processes that are killed or suspended at any moment.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/addresses.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/process_state.h"
#include "tests/support/roles.h"

namespace pacml {
namespace {

using testing::actor_words;
using testing::kLearnerRole;
using testing::Learner;
using testing::lines_after;
using testing::number_after;
using testing::Outcome;
using testing::Pacml;
using testing::pacml;
using testing::role_of;
using testing::tiny_config;
using testing::train_words;
using testing::wait_until;
using testing::Workplace;

using Words = std::vector<std::string>;

TEST_CASE("an actor that is killed is started again, and training goes on", "[fault][train]") {
  const Workplace place;
  Pacml process(train_words(place, {"--actors", "2"}));
  place.wait_for_decisions(2'000);  // perhaps all of the other one
  wait_until("it has joined",
             [&] { return place.log("actor-0").find("joined run") != std::string::npos; });
  const pid_t victim = role_of(process, "--id 0");
  REQUIRE(victim > 0);
  REQUIRE(::kill(victim, SIGKILL) == 0);
  wait_for_another(process, "--id 0", victim);
  CHECK_THAT(process.err(), Catch::StartsWith("actor-0 was killed by signal 9 (Killed); starting "
                                              "it again in "));
  wait_until("it has joined again", [&] {
    const std::string log = place.log("actor-0");
    const auto first = log.find("joined run");
    return first != std::string::npos && log.find("joined run", first + 1) != std::string::npos;
  });
  place.wait_for_decisions(place.latest("decisions") + 5'000);
  process.signal(SIGTERM);
  CHECK(process.end() == 0);

  const auto last = place.metrics().back();
  const std::int64_t message = 80;
  CHECK(last["duplicates"] == 0);
  CHECK(last["gaps"] == 0);  // what it had sent came, or came not at all, but nothing after it
  CHECK(last["malformed"] == 0);
  CHECK(last["messages"].get<std::int64_t>() * message >= last["decisions"]);
  const auto gathered = last["decisions"].get<std::int64_t>() -
                        last["samples"].get<std::int64_t>() - last["stale"].get<std::int64_t>();
  CHECK(gathered >= 0);
  CHECK(gathered < tiny_config().impala.batch_decisions + message);
}

TEST_CASE("an only actor that somebody asks to stop is started again, and training goes on",
          "[fault][train]") {
  const Workplace place;
  Pacml process(train_words(place, {"--actors", "1"}));
  place.wait_for_decisions(2'000);
  const pid_t victim = role_of(process, "--id 0");
  REQUIRE(victim > 0);
  REQUIRE(::kill(victim, SIGTERM) == 0);
  wait_for_another(process, "--id 0", victim);
  CHECK_THAT(process.err(),
             Catch::StartsWith("actor-0 ended with code 75; starting it again in 1000 ms\n"));
  place.wait_for_decisions(place.latest("decisions") + 5'000);
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
}

TEST_CASE("a learner that is killed goes on from its last checkpoint, with the actors it had",
          "[fault][train]") {
  const Workplace place;
  Pacml process(train_words(place, {"--actors", "2"}));
  wait_until("there is a checkpoint of something", [&] { return place.checkpoints().size() >= 2; });
  const auto before = place.checkpoints();
  const pid_t learner = role_of(process, kLearnerRole);
  REQUIRE(learner > 0);
  REQUIRE(::kill(learner, SIGKILL) == 0);
  wait_until("another one goes on",
             [&] { return !lines_after(place.log("learner"), "resumed from ").empty(); });
  CHECK_THAT(process.err(),
             Catch::StartsWith("learner was killed by signal 9 (Killed); starting it again from "
                               "its last checkpoint in 50 ms\n"));
  // Nothing before the checkpoint is lost.
  CHECK(place.run() + "/checkpoints/" + before.back() <=
        lines_after(place.log("learner"), "resumed from ").back());
  const std::size_t lines = place.metrics().size();
  wait_until("both actors are there again",
             [&] { return place.metrics().size() > lines && place.latest("actors") == 2; });
  place.wait_for_decisions(place.latest("decisions") + 5'000);
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
  const auto last = place.metrics().back();
  for (const char* key : {"duplicates", "malformed", "refused"}) {
    INFO(key);
    CHECK(last[key] == 0);
  }
}

TEST_CASE("a learner that is killed before its first checkpoint begins anew", "[fault][train]") {
  const Workplace place;
  Pacml process(train_words(place));
  const bool with_run = GENERATE(false, true);
  pid_t learner = 0;
  wait_until("the learner is there", [&] {
    learner = role_of(process, kLearnerRole);
    return learner > 0 && (!with_run || std::filesystem::exists(place / "run" / "config.yaml"));
  });
  REQUIRE(::kill(learner, SIGKILL) == 0);
  place.wait_for_decisions(2'000);
  CHECK_THAT(process.err(), Catch::StartsWith("learner was killed by signal 9 (Killed); starting "
                                              "it again "));
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
}

TEST_CASE("a learner that keeps dying ends the training with a sentence, and --resume goes on",
          "[fault][train]") {
  const Workplace place;
  auto process = std::make_unique<Pacml>(train_words(place, {"--actors", "2"}));
  wait_until("there is a checkpoint of something", [&] { return place.checkpoints().size() >= 2; });
  wait_until("training gives up", [&] {
    const pid_t learner = role_of(*process, kLearnerRole);
    if (learner > 0) static_cast<void>(::kill(learner, SIGKILL));
    return !process->runs();
  });
  CHECK(process->end() == 128 + SIGKILL);
  CHECK(lines_after(process->err(), "learner was killed by signal 9").size() == 8);
  CHECK_THAT(process->err(),
             Catch::EndsWith("the learner was killed by signal 9 (Killed); --resume goes on from "
                             "its last checkpoint\n"));
  CHECK(testing::children_of(process->pid()).empty());
  const auto kept = place.checkpoints().back();
  const std::int64_t updates_kept = std::stoll(kept.substr(std::string("checkpoint-").size()));
  CHECK(updates_kept > 0);
  const std::size_t lines = place.metrics().size();

  const Outcome resumed = pacml(train_words(
      place, {"--resume", "--decisions", std::to_string(place.latest("decisions") + 5'000)}));
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  const auto metrics = place.metrics();
  REQUIRE(metrics.size() > lines);
  CHECK(metrics[lines]["updates"] >= updates_kept);
  CHECK_THAT(place.log("learner"),
             Catch::Contains(kept + " at update " + std::to_string(updates_kept)));
}

TEST_CASE("actors outlive a learner that is killed, and join the one that resumes",
          "[fault][train]") {
  const Workplace place;
  const std::string address = "tcp://" + testing::loopback_host(2) + ":5555";
  auto learner = std::make_unique<Learner>(place, address);
  Pacml first(actor_words(place, address, 0));
  Pacml second(actor_words(place, address, 1));
  wait_until("both actors are there", [&] { return place.latest("actors") == 2; });
  wait_until("there is a checkpoint of something", [&] { return place.checkpoints().size() >= 2; });
  learner->process().signal(SIGKILL);
  CHECK(learner->process().end() == 128 + SIGKILL);
  const std::size_t lines = place.metrics().size();

  learner = std::make_unique<Learner>(place, address, Words{"--resume"});
  wait_until("both actors are there again",
             [&] { return place.metrics().size() > lines && place.latest("actors") == 2; });
  place.wait_for_decisions(place.latest("decisions") + 5'000);
  CHECK(place.metrics()[lines]["updates"] > 0);
  CHECK(first.runs());
  CHECK(second.runs());
  learner->process().signal(SIGTERM);
  CHECK(learner->process().end() == 0);
  for (Pacml* actor : {&first, &second}) {
    CHECK(actor->end() == 0);
    CHECK(number_after(actor->err(), " decisions, joined ") >= 2);
  }
}

TEST_CASE("a supervisor that is killed leaves a checkpoint and no process behind",
          "[fault][train]") {
  auto config = tiny_config();
  config.learner.checkpoint_seconds = 1e6;
  const Workplace place(config);
  Pacml process(train_words(place, {"--actors", "2"}));
  place.wait_for_decisions(2'000);
  const auto children = testing::children_of(process.pid());
  REQUIRE(children.size() == 3);
  process.signal(SIGKILL);
  CHECK(process.end() == 128 + SIGKILL);
  for (const auto& [pid, command] : children) {
    wait_until(command + " is gone", [pid = pid] { return testing::has_ended(pid); });
  }
  CHECK(place.checkpoints().size() == 2);
}

TEST_CASE("an actor that is suspended until it is forgotten goes on where it was",
          "[fault][train]") {
  auto config = tiny_config();
  config.learner.forget_seconds = 1;
  const Workplace place(config);
  Learner learner(place);
  Pacml paused(actor_words(place, learner.address(), 0));
  place.wait_for_decisions(2'000);
  paused.signal(SIGSTOP);
  wait_until("it is forgotten", [&] { return place.latest("actors") == 0; });
  const auto decisions = place.latest("decisions");
  paused.signal(SIGCONT);
  place.wait_for_decisions(decisions + 5'000);
  wait_until("it is there again", [&] { return place.latest("actors") == 1; });
  const auto last = place.metrics().back();
  CHECK(last["malformed"] == 0);
  CHECK(last["duplicates"] == 0);
  paused.signal(SIGTERM);
  CHECK(paused.end() == 0);
  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
}

TEST_CASE("an actor that keeps dying does not stop the others", "[fault][train]") {
  const Workplace place;
  Pacml process(train_words(place, {"--actors", "2"}));
  place.wait_for_decisions(800);
  for (int death = 0; death < 3; ++death) {
    pid_t victim = 0;
    wait_until("the actor is there", [&] { return (victim = role_of(process, "--id 1")) > 0; });
    REQUIRE(::kill(victim, SIGKILL) == 0);
    wait_until("it is gone", [&] { return role_of(process, "--id 1") != victim; });
  }
  place.wait_for_decisions(place.latest("decisions") + 2'000);
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
}

}  // namespace
}  // namespace pacml

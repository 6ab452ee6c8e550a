// Ape-X while processes are killed or suspended at any moment.

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "apps/run/run_directory.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/process_state.h"
#include "tests/support/roles.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::actor_role;
using testing::kLearnerRole;
using testing::last_report;
using testing::lines_after;
using testing::number_after;
using testing::Pacml;
using testing::role_of;
using testing::shard_address;
using testing::shard_role;
using testing::status_of;
using testing::tiny_apex_config;
using testing::train_words;
using testing::wait_until;
using testing::Workplace;

// Finds out soon that a shard is gone.
apps::TrainConfig impatient() {
  auto config = tiny_apex_config();
  config.replay.patience_seconds = 0.5;
  return config;
}

// Of the newest line's replay object; 0 before there is one.
double replay_figure(const Workplace& place, const std::string& key) {
  const auto lines = place.metrics();
  return lines.empty() ? 0 : lines.back().at("replay").value(key, 0.0);
}

void wait_for_progress(const Workplace& place, std::int64_t decisions = 2'000) {
  const auto updates = place.latest("updates") + 50;
  place.wait_for_decisions(place.latest("decisions") + decisions);
  wait_until("it is learned as well", [&] { return place.latest("updates") >= updates; });
}

std::size_t count(const Workplace& place, const std::string& role, const std::string& mark) {
  return lines_after(place.log(role), mark).size();
}

// Kills a process of `pacml train` and waits until another one has its place.
void kill_role(const Pacml& train, const std::string& role) {
  const pid_t victim = role_of(train, role);
  REQUIRE(victim > 0);
  REQUIRE(::kill(victim, SIGKILL) == 0);
  wait_for_another(train, role, victim);
}

void kill_learner(const Workplace& place, const Pacml& train) {
  wait_until("there is a checkpoint of something", [&] { return place.checkpoints().size() >= 2; });
  const auto resumed = count(place, "learner", "resumed from ");
  kill_role(train, kLearnerRole);
  wait_until("the learner resumes",
             [&] { return count(place, "learner", "resumed from ") > resumed; });
  const auto lines = place.metrics().size();
  wait_until("actors and shards are there again", [&] {
    return place.metrics().size() > lines && place.latest("actors") == 2 &&
           replay_figure(place, "shards") == 2;
  });
}

void kill_shard(const Workplace& place, const Pacml& train) {
  wait_until("there is a snapshot", [&] { return fs::exists(place / "run" / "replay/shard-1"); });
  const auto joins = replay_figure(place, "joins");
  kill_role(train, shard_role(1));
  wait_until("the learner has found it again",
             [&] { return replay_figure(place, "joins") > joins; });
  CHECK_THAT(place.log("replay-1"), Catch::Contains("goes on from " + place.run()));
}

void kill_actor(const Workplace& place, const Pacml& train) {
  const auto joins = count(place, "actor-0", "joined run ");
  kill_role(train, actor_role(0));
  wait_until("the actor has joined again",
             [&] { return count(place, "actor-0", "joined run ") > joins; });
}

// Stops in order; what is promised whatever was killed: nothing was taken for something else,
// nothing was taken twice.
void stop_and_check(const Workplace& place, Pacml& train) {
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
  const auto learner = place.metrics().back();
  for (const char* key : {"duplicates", "malformed", "refused", "misfits"}) {
    INFO(key);
    CHECK(learner[key] == 0);
  }
  for (const std::string shard : {"replay-0", "replay-1"}) {
    const auto report = last_report(place.log(shard));
    for (const char* key :
         {"duplicates", "malformed", "refused", "inserts_refused", "updates_refused"}) {
      INFO(shard << " " << key);
      CHECK(report[key] == 0);
    }
    CHECK(report["gaps"].is_number());
    CHECK(report["inserted"].get<std::int64_t>() ==
          report["items"].get<std::int64_t>() + report["evicted"].get<std::int64_t>());
  }
}

std::int64_t inserted(const Workplace& place, int shard) {
  return last_report(place.log("replay-" + std::to_string(shard)))["inserted"];
}

// What an actor says that it has done, over all lives that ended in order.
std::int64_t acted(const Workplace& place, int actor) {
  std::int64_t sum = 0;
  for (const auto& line : lines_after(place.log("actor-" + std::to_string(actor)), ": acted ")) {
    sum += std::stoll(line);
  }
  return sum;
}

// Decisions of an actor that may be on the way, or wait for the shard, when all stops: its credits,
// the message that it cannot send yet, and windows that are open.
std::int64_t most_on_the_way() {
  const auto config = tiny_apex_config();
  const std::int64_t message = config.actor.environments * config.actor.unroll_length;
  return (config.replay.credits_per_actor + 2) * message +
         config.actor.environments * config.transitions.n_step;
}

// What an actor that was never killed has done is in its shard, which was not killed either, once.
// It may have had to join its shard again, where the machine kept one of them from speaking for
// seconds, and then says what it lost.
void check_inserted(const Workplace& place, int actor) {
  const auto ends =
      lines_after(place.log("actor-" + std::to_string(actor)), ", and the replay shard ");
  REQUIRE(ends.size() == 1);
  const std::int64_t joins = std::stoll(ends[0]);
  const std::int64_t lost = number_after(ends[0] + "\n", " times, ");
  const auto config = tiny_apex_config();
  const std::int64_t message = config.actor.environments * config.actor.unroll_length;
  INFO("actor " << actor << " acted " << acted(place, actor) << ", inserted "
                << inserted(place, actor) << ", joined " << joins << " times, lost " << lost);
  CHECK(inserted(place, actor) <= acted(place, actor));
  CHECK(inserted(place, actor) >= acted(place, actor) - most_on_the_way() - lost * message);
  testing::check_books(last_report(place.log("replay-" + std::to_string(actor))), config, joins);
}

// The learner makes progress from what its shards hold, without its actors.
void wait_for_actors(const Workplace& place, const std::string& words) {
  for (const char* actor : {"actor-0", "actor-1"}) {
    testing::wait_until(std::string(actor) + " says: " + words,
                        [&] { return place.log(actor).find(words) != std::string::npos; });
  }
}

TEST_CASE("a learner that is killed costs no transition, and none is inserted twice",
          "[fault][train]") {
  const Workplace place(impatient());
  Pacml process(train_words(place));
  wait_for_progress(place);
  wait_for_actors(place, "joined run");
  kill_learner(place, process);
  CHECK_THAT(process.err(),
             Catch::StartsWith("learner was killed by signal 9 (Killed); starting it again from "
                               "its last checkpoint in 50 ms\n"));
  wait_for_progress(place);
  wait_for_actors(place, "joined the learner again");
  stop_and_check(place, process);
  for (const int i : {0, 1}) {  // actor i has shard i
    check_inserted(place, i);
    CHECK(number_after(place.log("actor-" + std::to_string(i)), " decisions, joined ") >= 2);
  }
  CHECK(place.latest("decisions") <= inserted(place, 0) + inserted(place, 1));
}

TEST_CASE("a replay shard that is killed costs what it took since its snapshot, and no more",
          "[fault][train]") {
  const Workplace place(impatient());
  Pacml process(train_words(place));
  wait_for_progress(place);
  wait_until("its actor has joined it",
             [&] { return status_of(place, shard_address(place, 1))["inserted"] > 0; });
  kill_shard(place, process);
  CHECK_THAT(process.err(), Catch::StartsWith("replay-1 was killed by signal 9 (Killed); starting "
                                              "it again in 50 ms\n"));
  const auto found = status_of(place, shard_address(place, 1));
  wait_for_progress(place);
  wait_until("both sides use it again", [&] {
    const auto now = status_of(place, shard_address(place, 1));
    return now["inserted"] > found["inserted"] && now["sampled"] > found["sampled"] &&
           now["actors"] == 1 && now["learners"] == 1;
  });
  stop_and_check(place, process);
  check_inserted(place, 0);
  CHECK(inserted(place, 1) <= acted(place, 1));
  CHECK(number_after(place.log("actor-1"), ", and the replay shard ") >= 2);
}

TEST_CASE("learner, shard and actor may be killed one after the other, in either order",
          "[fault][train]") {
  const bool learner_first = GENERATE(true, false);
  INFO((learner_first ? "learner, shard, actor" : "actor, shard, learner"));
  const Workplace place(impatient());
  Pacml process(train_words(place));
  wait_for_progress(place);
  learner_first ? kill_learner(place, process) : kill_actor(place, process);
  wait_for_progress(place);
  kill_shard(place, process);
  wait_for_progress(place);
  learner_first ? kill_actor(place, process) : kill_learner(place, process);
  wait_for_progress(place);
  stop_and_check(place, process);
}

TEST_CASE("while a replay shard is suspended the others are drawn from, and then it as well",
          "[fault][train]") {
  const Workplace place(impatient());
  Pacml process(train_words(place));
  wait_for_progress(place);
  // One that the learner has not met yet owes it nothing.
  wait_until("the learner draws from both", [&] {
    const auto drawn = [&](int shard) {
      return status_of(place, shard_address(place, shard))["sampled"].get<std::int64_t>();
    };
    return replay_figure(place, "shards") == 2 && drawn(0) > 0 && drawn(1) > 0;
  });
  const pid_t suspended = role_of(process, shard_role(0));
  REQUIRE(suspended > 0);
  REQUIRE(::kill(suspended, SIGSTOP) == 0);
  wait_until("what it owes is drawn elsewhere",
             [&] { return replay_figure(place, "redrawn") > 0; });
  CHECK_THAT(place.log("learner"), Catch::Contains("replay shard 0 has owed draws for too long"));
  wait_for_progress(place);
  const auto batches = replay_figure(place, "batches");
  wait_until("batches come without it",
             [&] { return replay_figure(place, "batches") >= batches + 50; });
  REQUIRE(::kill(suspended, SIGCONT) == 0);
  const auto back = status_of(place, shard_address(place, 0));
  wait_until("it takes and gives again", [&] {
    const auto now = status_of(place, shard_address(place, 0));
    // More than what it was asked for before.
    return now["sampled"].get<std::int64_t>() >= back["sampled"].get<std::int64_t>() + 3'000 &&
           now["inserted"].get<std::int64_t>() >= back["inserted"].get<std::int64_t>() + 1'000;
  });
  wait_for_progress(place);
  stop_and_check(place, process);
  CHECK(process.err().empty());  // nobody died of it
}

TEST_CASE("a supervisor of Ape-X that is killed leaves snapshots and no process behind",
          "[fault][train]") {
  auto config = impatient();
  config.replay.snapshot_seconds = 0;  // only at the end
  const Workplace place(config);
  Pacml process(train_words(place));
  place.wait_for_decisions(2'000);
  // What the learner has decided upon does not say that every shard was sent some of it.
  for (const int shard : {0, 1}) {
    wait_until("shard " + std::to_string(shard) + " holds something", [&] {
      return status_of(place, shard_address(place, shard))["inserted"].get<std::int64_t>() >= 500;
    });
  }
  const auto children = testing::children_of(process.pid());
  REQUIRE(children.size() == 5);
  process.signal(SIGKILL);
  CHECK(process.end() == 128 + SIGKILL);
  for (const auto& [pid, command] : children) {
    wait_until(command + " is gone", [pid = pid] { return testing::has_ended(pid); });
  }
  for (const char* shard : {"shard-0", "shard-1"}) {
    CHECK(fs::file_size(place / "run" / "replay" / shard) > 10'000);
  }
}

TEST_CASE("a run that goes on waits for the tables that its former shards still save",
          "[fault][train]") {
  const Workplace place(impatient());
  {
    Pacml process(train_words(place));
    wait_for_progress(place);
    process.signal(SIGTERM);
    CHECK(process.end() == 0);
  }
  // As a shard has it that is still saving its table.
  auto former = std::make_unique<apps::SnapshotLock>(place / "run" / "replay" / "shard-1");
  Pacml resumed(train_words(
      place, {"--resume", "--decisions", std::to_string(place.latest("decisions") + 20'000)}));
  wait_until("it waits", [&] {
    return resumed.err().find("waits until a former replay-1 has saved its table\n") !=
           std::string::npos;
  });
  CHECK(lines_after(place.log("replay-1"), "goes on from ").empty());
  former.reset();
  CHECK(resumed.end() == 0);
  CHECK_THAT(resumed.err(), !Catch::Contains("begins with an empty table"));
  CHECK_FALSE(lines_after(place.log("replay-1"), "goes on from ").empty());
}

TEST_CASE("shards that can leave no snapshot go on, say so, and it is the exit code in the end",
          "[fault][train]") {
  const Workplace place(impatient());
  Pacml process(train_words(place));
  wait_for_progress(place);
  // Root writes wherever there is a folder.
  const fs::path folder = place / "run" / "replay";
  std::error_code busy;
  wait_until("the folder is gone", [&] {
    fs::remove_all(folder, busy);
    return !fs::exists(folder) && std::ofstream(folder).is_open() && fs::is_regular_file(folder);
  });
  const auto address = shard_address(place, 0);
  wait_until("the status tells",
             [&] { return status_of(place, address)["snapshot_failures"] > 0; });
  CHECK_THAT(status_of(place, address)["last_fault"].get<std::string>(),
             Catch::Contains(folder.string()));
  wait_for_progress(place);

  const bool mended = GENERATE(true, false);
  if (mended) {
    fs::remove(folder);
    fs::create_directories(folder);
  }
  process.signal(SIGTERM);
  CHECK(process.end() == (mended ? 0 : 2));
  CHECK(process.err().empty() == mended);
  CHECK(fs::exists(folder / "shard-1") == mended);
}

TEST_CASE("a replay shard that cannot go on ends the training and says why", "[fault][train]") {
  const Workplace place(impatient());
  const auto trained = testing::pacml(train_words(place, {"--decisions", "2000"}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const fs::path snapshot = place / "run" / "replay" / "shard-1";
  fs::resize_file(snapshot, fs::file_size(snapshot) / 2);
  const auto damaged = testing::text_of(snapshot);
  const auto resumed = testing::pacml(train_words(place, {"--resume"}));
  CHECK(resumed.code == 2);
  CHECK_THAT(resumed.err, Catch::Contains("see " + place.run() + "/logs/replay-1.log") &&
                              Catch::Contains("a replay shard is lost for good: stopping"));
  CHECK_THAT(place.log("replay-1"),
             Catch::Contains("pacml: cannot restore the replay table from " + snapshot.string()));
  CHECK(testing::text_of(snapshot) == damaged);
}

}  // namespace
}  // namespace pacml

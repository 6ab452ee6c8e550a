// Roles on hosts of their own: addresses that differ, networks that are slow and lose packets,
// cables that are pulled, hosts that are gone. With PACML_LONG_TESTS=1 cables stay out for 30 s and
// everything has its default patience.

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/hosted_run.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HostedRun;
using testing::hosts_are_possible;
using testing::last_report;
using testing::lines_after;
using testing::number_after;
using testing::Pacml;
using testing::wait_until;
using testing::Workplace;

bool long_tests() {
  const char* const value = std::getenv("PACML_LONG_TESTS");
  return value != nullptr && std::string(value) == "1";
}

apps::TrainConfig impala() { return testing::tiny_config(); }
apps::TrainConfig apex() { return testing::tiny_apex_config(); }

// Takes nobody for gone, however slow the machine is: for tests in which nobody goes.
apps::TrainConfig patient(apps::TrainConfig config) {
  config.transport.dead_after_ms = 300'000;
  config.transport.handshake_ms = 60'000;
  config.patience.silence_seconds = 300;
  config.learner.forget_seconds = 300;
  config.replay.forget_seconds = 300;
  return config;
}

// Finds out soon that somebody is gone.
apps::TrainConfig impatient(apps::TrainConfig config) {
  config.replay.patience_seconds = replay::ReplayConfig{}.patience_seconds;
  config.patience.farewell_seconds = 120;
  if (long_tests()) return config;
  config.transport.keepalive_ms = 500;
  config.transport.dead_after_ms = 1'000;
  config.transport.handshake_ms = 1'000;
  config.transport.reconnect_max_ms = 400;
  config.learner.forget_seconds = 2;
  config.replay.forget_seconds = 2;
  config.replay.patience_seconds = 0.5;
  return config;
}

void wait_for_progress(const HostedRun& run, std::int64_t decisions = 2'000) {
  const Workplace& place = run.place();
  const auto updates = place.latest("updates");
  place.wait_for_decisions(place.latest("decisions") + decisions);
  wait_until("it is learned as well", [&] { return place.latest("updates") > updates; });
}

// Stops the learner, which sends its actors home, and then the shards.
void stop(HostedRun& run, std::size_t actors, std::size_t shards) {
  run.learner().process().signal(SIGTERM);
  CHECK(run.learner().process().end() == 0);
  for (std::size_t i = 0; i < actors; ++i) {
    INFO("actor " << i);
    CHECK(run.actor(i).end() == 0);
  }
  for (std::size_t i = 0; i < shards; ++i) {
    INFO("shard " << i);
    run.shard(i).signal(SIGTERM);
    CHECK(run.shard(i).end() == 0);
  }
}

void check_nothing_wrong(const json& server) {
  for (const char* key : {"duplicates", "malformed", "refused"}) {
    INFO(key);
    CHECK(server[key] == 0);
  }
}

TEST_CASE("IMPALA learns on several hosts, and over a network that is slow and loses packets",
          "[integration][hosts]") {
  if (!hosts_are_possible()) return;
  HostedRun run(patient(impala()), 2, testing::NetworkProxy::Manner{.latency = 50ms});
  wait_until("both actors are there", [&] { return run.place().latest("actors") == 2; });
  for (auto* host : run.hosts()) {
    host->limit_rate(20);
    host->lose(1);
  }
  wait_for_progress(run);
  const json status = run.learner_status();
  CHECK(status["actors"] == 2);
  CHECK(status["gaps"] == 0);
  check_nothing_wrong(status);
  stop(run, 2, 0);
  CHECK(run.place().metrics().back()["gaps"] == 0);
  for (std::size_t i : {0U, 1U}) {
    CHECK_THAT(run.actor(i).err(), Catch::Contains("joined 1 times"));
  }
}

TEST_CASE("Ape-X learns on several hosts, and over a network that is slow and loses packets",
          "[integration][hosts]") {
  if (!hosts_are_possible()) return;
  HostedRun run(patient(apex()), 2, testing::NetworkProxy::Manner{.latency = 50ms});
  wait_until("both actors are there", [&] { return run.place().latest("actors") == 2; });
  for (auto* host : run.hosts()) {
    host->limit_rate(20);
    host->lose(1);
  }
  wait_for_progress(run);
  check_nothing_wrong(run.learner_status());
  for (std::size_t i : {0U, 1U}) {
    const json status = run.shard_status(i);
    INFO(status);
    CHECK(status["actors"] == 1);
    CHECK(status["learners"] == 1);
    CHECK(status["gaps"] == 0);
    check_nothing_wrong(status);
  }
  stop(run, 2, 2);
  for (std::size_t i : {0U, 1U}) testing::check_books(last_report(run.shard(i).err()), apex());
}

// Pulls the cable of `host`, and plugs it in again when others have noticed.
template <class Noticed>
void cut_off(testing::VirtualHost& host, Noticed wait_until_noticed) {
  const auto until = std::chrono::steady_clock::now() + (long_tests() ? 30s : 0s);
  host.unplug();
  wait_until_noticed();
  std::this_thread::sleep_until(until);
  host.plug_in();
}

// The numbers in "acted 8800 decisions, joined 2 times, ..., 3 messages may be lost".
std::int64_t told(const Pacml& actor, const std::string& before) {
  const auto found = lines_after(actor.err(), before);
  REQUIRE_FALSE(found.empty());
  return std::stoll(found.back());
}

TEST_CASE("an actor whose cable is pulled joins again, and every message is learned, or lost once",
          "[integration][hosts]") {
  if (!hosts_are_possible()) return;
  const auto config = impatient(impala());
  HostedRun run(config, 2);
  const Workplace& place = run.place();
  wait_until("both actors are there", [&] { return place.latest("actors") == 2; });
  wait_for_progress(run);
  cut_off(run.actor_host(0), [&] {
    wait_until("the learner has forgotten it", [&] { return place.latest("actors") == 1; });
    wait_for_progress(run);  // the other one goes on
  });
  wait_until("it has joined again", [&] {
    return lines_after(run.actor(0).err(), "joined the learner again").size() > 0;
  });
  wait_until("both are there again", [&] { return place.latest("actors") == 2; });
  wait_for_progress(run);
  stop(run, 2, 0);
  const json last = place.metrics().back();
  check_nothing_wrong(last);
  CHECK(last["gaps"] == 0);
  std::int64_t acted = 0;
  std::int64_t lost = 0;
  for (std::size_t i : {0U, 1U}) {
    acted += told(run.actor(i), ": acted ");
    const std::int64_t mine = told(run.actor(i), " times, ");
    CHECK(mine <= config.learner.credits_per_actor * told(run.actor(i), "joined "));
    lost += mine;
  }
  const std::int64_t message = config.actor.environments * config.actor.unroll_length;
  const std::int64_t missing = acted - message * last["messages"].get<std::int64_t>();
  INFO("missing " << missing << " of " << acted << ", lost messages " << lost);
  CHECK(missing >= 0);
  // At the end each has some on the way, one that waits for a credit and one that it was filling.
  CHECK(missing <= message * (lost + 2 * (config.learner.credits_per_actor + 2)));
}

TEST_CASE("a shard whose cable is pulled is drawn from again when it is back",
          "[integration][hosts]") {
  if (!hosts_are_possible()) return;
  const auto config = impatient(apex());
  HostedRun run(config, 2);
  const Workplace& place = run.place();
  const auto replay = [&](const char* key) {
    const auto lines = place.metrics();
    return lines.empty() ? 0.0 : lines.back().at("replay").value(key, 0.0);
  };
  wait_until("both shards are there", [&] { return replay("shards") == 2; });
  wait_for_progress(run);
  cut_off(run.shard_host(0), [&] {
    wait_for_progress(run);
    wait_until("what it owes is drawn elsewhere", [&] { return replay("redrawn") > 0; });
  });
  const auto back = run.shard_status(0);
  wait_until("it takes and gives again", [&] {
    const json now = run.shard_status(0);
    return now["inserted"] > back["inserted"] && now["sampled"] > back["sampled"] &&
           now["actors"] == 1 && now["learners"] == 1;
  });
  wait_for_progress(run);
  stop(run, 2, 2);
  for (std::size_t i : {0U, 1U}) {
    const json report = last_report(run.shard(i).err());
    check_nothing_wrong(report);
    testing::check_books(report, config,
                         number_after(run.actor(i).err(), ", and the replay shard "));
  }
}

TEST_CASE("hosts that vanish are forgotten, and a learner that comes back on another is found",
          "[integration][hosts]") {
  if (!hosts_are_possible()) return;
  HostedRun run(impatient(impala()), 3);
  const Workplace& place = run.place();
  wait_until("all actors are there", [&] { return place.latest("actors") == 3; });
  wait_for_progress(run);
  const auto memory = place.latest("resident_bytes");
  // Nobody tells the learner: no packet leaves the host any more.
  run.actor_host(2).unplug();
  run.actor(2).signal(SIGKILL);
  wait_until("the learner has forgotten it", [&] { return run.learner_status()["actors"] == 2; });
  wait_for_progress(run);
  check_nothing_wrong(run.learner_status());
  CHECK(place.latest("resident_bytes") < memory + (64 << 20));

  // Nor are the actors told of the learner's end.
  wait_until("there is a checkpoint of something", [&] { return place.checkpoints().size() >= 2; });
  run.learner_host().unplug();
  run.learner().process().signal(SIGKILL);
  run.learner().process().end();
  run.learner_host().plug_in();
  const auto lines = place.metrics().size();
  run.start_learner({"--resume"});
  wait_until("both actors are there again",
             [&] { return place.metrics().size() > lines && place.latest("actors") == 2; });
  wait_for_progress(run);
  stop(run, 2, 0);
  CHECK(place.metrics().back()["duplicates"] == 0);
}

}  // namespace
}  // namespace pacml

// Whoever it is and whenever it comes: kill -9 of random roles at random moments, from a seed. At
// the end everything is counted once. `--rng-seed N` is another sequence.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"
#include "tests/support/run_checkpoint.h"

namespace pacml::testing {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::size_t kKills = 6;
constexpr int kMostLearnerKills = 3;  // five deaths in a row would end the training

// Kills each of `roles` at least once, in a random order; how often each.
std::map<std::string, int> sweep(const Pacml& train, const std::vector<std::string>& roles,
                                 Rng& rng) {
  std::vector<std::string> victims = roles;
  while (victims.size() < kKills) victims.push_back(roles[rng.below(roles.size())]);
  for (std::size_t i = victims.size(); i > 1; --i) std::swap(victims[i - 1], victims[rng.below(i)]);
  std::map<std::string, int> kills;
  for (const std::string& role : victims) {
    // Perhaps before the last victim is back.
    std::this_thread::sleep_for(milliseconds(rng.below(1'500)));
    if (role == kLearnerRole && kills[role] == kMostLearnerKills) continue;
    pid_t victim = 0;
    wait_until(role + " is there", [&] { return (victim = role_of(train, role)) > 0; });
    if (::kill(victim, SIGKILL) == 0) ++kills[role];
    wait_until(role + " is gone", [&] { return role_of(train, role) != victim; });
  }
  return kills;
}

void wait_for_progress(const Workplace& place, std::int64_t decisions = 2'000) {
  const auto lines = place.metrics().size();
  wait_until("there is a line of the present learner and all actors",
             [&] { return place.metrics().size() > lines && place.latest("actors") == 2; });
  const auto updates = place.latest("updates") + 5;
  place.wait_for_decisions(place.latest("decisions") + decisions);
  wait_until("it is learned", [&] { return place.latest("updates") >= updates; });
}

void check_learner(const json& line) {
  for (const char* key : {"duplicates", "gaps", "malformed", "refused", "misfits"}) {
    INFO(key);
    CHECK(line[key] == 0);
  }
  CHECK(line["faults"]["checkpoint_failures"] == 0);
}

// Kills of a learner and actors that send it sequences, and counts.
void check_sweep_of_sequences(const apps::TrainConfig& config) {
  const auto seed = Catch::rngSeed();
  INFO("--rng-seed " << seed);
  Rng rng(Seed{seed});
  const std::int64_t batch = apps::update_size_of(config).batch_decisions;
  const Workplace place(config);
  Pacml process(train_words(place, {"--actors", "2"}));
  place.wait_for_decisions(1);
  auto kills = sweep(process, {kLearnerRole, actor_role(0), actor_role(1)}, rng);
  wait_for_progress(place, 5 * batch);
  process.signal(SIGTERM);
  CHECK(process.end() == 0);

  const auto last = place.metrics().back();
  check_learner(last);
  // What was counted and not yet learned from is gathered, or was when a learner was killed.
  const std::int64_t message = config.actor.environments * config.actor.unroll_length;
  const auto gathered = last["decisions"].get<std::int64_t>() -
                        last["samples"].get<std::int64_t>() - last["stale"].get<std::int64_t>();
  CHECK(gathered >= 0);
  CHECK(gathered < (1 + kills[kLearnerRole]) * (batch + message));
}

TEST_CASE("IMPALA: whoever is killed whenever, nothing is learned twice", "[fault][train]") {
  check_sweep_of_sequences(tiny_config());
}

TEST_CASE("Expert iteration: whoever is killed whenever, nothing is learned twice",
          "[fault][train]") {
  check_sweep_of_sequences(tiny_expert_config());
}

// Kills of `roles`, and counts.
void check_sweep_of_apex(const std::vector<std::string>& roles) {
  const auto seed = Catch::rngSeed();
  INFO("--rng-seed " << seed);
  Rng rng(Seed{seed});
  const auto config = tiny_apex_config();
  const Workplace place(config);
  Pacml process(train_words(place));
  place.wait_for_decisions(1);
  auto kills = sweep(process, roles, rng);
  wait_for_progress(place);
  process.signal(SIGTERM);
  CHECK(process.end() == 0);

  check_learner(place.metrics().back());
  const std::int64_t message = config.actor.environments * config.actor.unroll_length;
  const std::int64_t windows = config.actor.environments * config.transitions.n_step;
  std::int64_t inserted_by_all = 0;
  for (const int i : {0, 1}) {  // actor i has shard i
    const auto report = last_report(place.log("replay-" + std::to_string(i)));
    INFO(report);
    for (const char* key :
         {"duplicates", "gaps", "malformed", "refused", "inserts_refused", "updates_refused"}) {
      INFO(key);
      CHECK(report[key] == 0);
    }
    const auto inserted = report["inserted"].get<std::int64_t>();
    inserted_by_all += inserted;
    CHECK(inserted == report["items"].get<std::int64_t>() + report["evicted"].get<std::int64_t>());
    // Each message that was accepted is in the table once: of as many environments as the shard
    // wanted, from one to all. What waited when a snapshot was taken that a shard then went on from
    // is lost, and a life's first decisions come a message later: should that be the message after
    // such a loss, it has more than its own.
    const auto messages =
        report["messages"].get<std::int64_t>() - report["inserts_waiting"].get<std::int64_t>();
    CHECK(inserted <= message * messages + kills[shard_role(i)] * windows);
    CHECK(inserted >= config.actor.unroll_length * messages - (1 + kills[actor_role(i)]) * windows -
                          kills[shard_role(i)] * config.replay.credits_per_actor * message);
  }
  if (kills[shard_role(0)] + kills[shard_role(1)] > 0) return;
  // What the learner counts is what the shards took in, also while it was away, but for the last
  // moment.
  CHECK(place.latest("decisions") <= inserted_by_all);
  CHECK(place.latest("decisions") >= inserted_by_all - 2'000);
}

TEST_CASE("Ape-X: whoever is killed whenever, nothing is inserted twice", "[fault][train]") {
  check_sweep_of_apex({kLearnerRole, shard_role(0), shard_role(1), actor_role(0), actor_role(1)});
}

TEST_CASE("Ape-X: whoever but a shard is killed, the learner counts what the shards took in",
          "[fault][train]") {
  check_sweep_of_apex({kLearnerRole, actor_role(0), actor_role(1)});
}

TEST_CASE("a learner that is killed again and again goes on from its newest checkpoint each time",
          "[fault][train]") {
  const auto seed = Catch::rngSeed();
  INFO("--rng-seed " << seed);
  Rng rng(Seed{seed});
  auto config = tiny_config();
  config.learner.metrics_seconds = 0.02;
  config.learner.evaluate_seconds = 1e6;
  const Workplace place(config);
  Pacml process(train_words(place, {"--actors", "2"}));
  std::string figures;  // for docs/fault_tolerance.md, from a quiet machine
  for (int kill = 0; kill < 3; ++kill) {
    const auto checkpoints = place.checkpoints();
    wait_until("there is another checkpoint", [&] {
      const auto now = place.checkpoints();
      return !now.empty() && (checkpoints.empty() || now.back() > checkpoints.back());
    });
    std::this_thread::sleep_for(milliseconds(rng.below(1'500)));
    const pid_t victim = role_of(process, kLearnerRole);
    REQUIRE(victim > 0);
    REQUIRE(::kill(victim, SIGKILL) == 0);
    const auto killed = std::chrono::steady_clock::now();
    wait_until("it is gone", [&] { return role_of(process, kLearnerRole) != victim; });
    // In this order: the next life may write a line, and then a checkpoint that is newer than it.
    const auto kept = newest_checkpoint(place).counters.at("updates");
    const auto before = place.metrics().size();
    wait_until("there is a new update", [&] {
      const auto now = place.metrics();
      return now.size() > before && now.back()["updates"] > kept;
    });
    const std::chrono::duration<double> back = std::chrono::steady_clock::now() - killed;
    figures += "  a new update after " + std::to_string(back.count()) + " s\n";
    CHECK(place.metrics()[before]["updates"] >= kept);
  }
  WARN("kill -9 of the learner:\n" << figures);
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
}

}  // namespace
}  // namespace pacml::testing

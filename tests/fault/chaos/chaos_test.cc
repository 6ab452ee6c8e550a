// A run in which everything goes wrong at random, from a seed: processes are killed and suspended,
// links are parted, cut and slow, several at once. At the end all is well again, nothing was
// learned twice, and no more was lost than docs/fault_tolerance.md says.
//
//   PACML_CHAOS_MINUTES=10   so long instead of seconds, with pauses of up to 15 s; afterwards the
//                            policy is held against one that learned undisturbed
//   PACML_CHAOS_SEED=7       another script than that of seed 7

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/chaos/fleet.h"
#include "tests/fault/chaos/script.h"
#include "tests/support/catch.h"
#include "tests/support/roles.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::milliseconds;
using testing::Fleet;
using testing::last_report;
using testing::ScriptedMishap;
using testing::Workplace;

constexpr int kActors = 3;
// Blocking rates of two policies that learned from different experience may differ by so much: the
// standard error over 20 episodes of 20 jobs, twice, and what training itself scatters.
constexpr double kTolerance = 0.05;

std::optional<double> from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return std::stod(text);
}

std::optional<double> minutes() { return from_environment("PACML_CHAOS_MINUTES"); }

apps::TrainConfig chaotic(apps::TrainConfig config) {
  config.actors = kActors;
  config.learner.evaluate_seconds = 5;
  config.replay.patience_seconds = replay::ReplayConfig{}.patience_seconds;
  config.patience.farewell_seconds = 120;
  if (minutes()) return config;
  // What takes ten seconds by default has to be seen in one.
  config.transport.keepalive_ms = 500;
  config.transport.dead_after_ms = 1'000;
  config.transport.handshake_ms = 500;
  config.transport.reconnect_max_ms = 300;
  config.learner.forget_seconds = 2;
  config.replay.forget_seconds = 2;
  config.replay.patience_seconds = 0.5;
  return config;
}

// Plays the script; how often each kind of mishap happened.
std::map<std::string, int> play(Fleet& fleet, const std::vector<ScriptedMishap>& script) {
  std::map<std::string, int> happened;
  std::multimap<milliseconds, const ScriptedMishap*> open;  // by when they are over
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began);
  };
  for (auto next = script.begin(); next != script.end() || !open.empty();) {
    while (!open.empty() && open.begin()->first <= elapsed()) {
      fleet.end(*open.begin()->second);
      open.erase(open.begin());
    }
    // Whatever must be over before it has been ended above, even where this machine is late.
    if (next != script.end() && next->at <= elapsed() &&
        (open.empty() || next->at < open.begin()->first)) {
      fleet.begin(*next);
      ++happened[name_of(next->kind) + " " + fleet.name_of_victim(*next)];
      open.emplace(next->at + next->lasts, &*next);
      ++next;
    }
    fleet.tend();
    std::this_thread::sleep_for(5ms);
  }
  return happened;
}

// What an actor says of its last life: "joined 1 times, and the replay shard 3 times, 2 messages
// may be lost".
struct ActorLife {
  std::int64_t joins = 0;  // of the server that takes its experience
  std::int64_t lost = 0;   // messages
};
ActorLife last_life(const Fleet::Role& actor) {
  static const std::regex report("(\\d+) times, (\\d+) messages may be lost");
  const std::string log = actor.process->err();
  std::smatch found;
  INFO(log);
  REQUIRE(std::regex_search(log, found, report));
  return {std::stoll(found[1]), std::stoll(found[2])};
}

// What each life of the learner wrote; those that had no time to write are left out.
std::vector<std::vector<json>> lives(const Fleet& fleet) {
  const auto lines = fleet.place().metrics();
  auto ends = fleet.learner_deaths();
  ends.push_back(lines.size());
  std::vector<std::vector<json>> found;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (end > begin) {
      found.emplace_back(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                         lines.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
  return found;
}

void check_learner(const Fleet& fleet, const apps::TrainConfig& config) {
  for (const auto& life : lives(fleet)) {
    const json& last = life.back();
    INFO(last);
    for (const char* key : {"duplicates", "malformed", "misfits", "refused"}) {
      INFO(key);
      CHECK(last[key] == 0);
    }
    if (apps::uses_replay(config.algorithm)) continue;
    // What was learned from had come.
    const std::int64_t message = config.actor.environments * config.actor.unroll_length;
    const auto learned =
        last["decisions"].get<std::int64_t>() - life.front()["decisions"].get<std::int64_t>();
    CHECK(learned <= last["messages"].get<std::int64_t>() * message);
  }
}

void check_shard(const Fleet::Role& shard) {
  const json report = last_report(shard.process->err());
  INFO(shard.name << " " << report);
  for (const char* key :
       {"duplicates", "malformed", "refused", "inserts_refused", "updates_refused"}) {
    INFO(key);
    CHECK(report[key] == 0);
  }
  CHECK(report["inserted"].get<std::int64_t>() ==
        report["items"].get<std::int64_t>() + report["evicted"].get<std::int64_t>());
}

// An actor loses at most its credits each time that it loses its server.
void check_actor(const Fleet::Role& actor, const apps::TrainConfig& config) {
  const auto credits = config.algorithm == apps::AlgorithmKind::kApex
                           ? config.replay.credits_per_actor
                           : config.learner.credits_per_actor;
  const ActorLife life = last_life(actor);
  INFO(actor.name << " joined " << life.joins << " times and lost " << life.lost);
  CHECK(life.lost <= credits * (life.joins - 1));
}

double blocking_rate(const Workplace& place) {
  const std::string out = (place / "score.json").string();
  const auto outcome = testing::pacml(
      {"eval", place.config_file(), "--policy", place.run(), "--seeds", "20", "--out", out});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return json::parse(testing::text_of(out))["policies"][0]["blocking_rate"]["mean"];
}

double undisturbed_blocking_rate(const apps::TrainConfig& config, std::int64_t decisions) {
  const Workplace place(config);
  testing::Pacml train(testing::train_words(place, {"--decisions", std::to_string(decisions)}));
  REQUIRE(train.end() == 0);
  return blocking_rate(place);
}

// After which a run goes on; searches take their time.
std::int64_t some_decisions(const apps::TrainConfig& config) {
  return config.algorithm == apps::AlgorithmKind::kExpertIteration ? 500 : 2'000;
}

void run_chaos(const apps::TrainConfig& config) {
  const Seed seed{static_cast<std::uint64_t>(from_environment("PACML_CHAOS_SEED").value_or(7))};
  const milliseconds time(static_cast<std::int64_t>(minutes().value_or(0.1) * 60'000));
  const testing::Pace pace =
      minutes() ? testing::Pace{300ms, 15'000ms, 1'500ms} : testing::Pace{100ms, 1'500ms, 200ms};
  Fleet fleet(config, kActors);
  const auto script = testing::make_script(seed, fleet.roles(), fleet.links(), time, pace);
  std::cout << name_of(config.algorithm) << ", PACML_CHAOS_SEED=" << seed.get() << ": "
            << script.size() << " mishaps in " << time.count() / 1000 << " s\n"
            << std::flush;
  INFO("PACML_CHAOS_SEED=" << seed.get());
  const auto happened = play(fleet, script);

  fleet.wait_until_whole();
  const Workplace& place = fleet.place();
  const auto updates = place.latest("updates");
  const auto decisions = place.latest("decisions") + some_decisions(config);
  testing::wait_until("it goes on", [&] {
    return place.latest("decisions") >= decisions && place.latest("updates") > updates;
  });
  fleet.stop();

  check_learner(fleet, config);
  for (const auto* shard : fleet.shards()) check_shard(*shard);
  for (const auto* actor : fleet.actors()) check_actor(*actor, config);
  for (const auto& [what, times] : happened) std::cout << "  " << what << ": " << times << "\n";
  for (const Fleet::Role& role : fleet.all()) {
    std::cout << "  " << role.name << ": killed " << role.kills << " times, at most "
              << role.most_memory / 1'000'000 << " MB\n";
    CHECK(role.most_memory < 600'000'000);
  }
  const double score = blocking_rate(place);
  std::cout << "  " << place.latest("decisions") << " decisions, blocking rate " << score << '\n';
  if (!minutes()) return;
  const double undisturbed = undisturbed_blocking_rate(config, place.latest("decisions"));
  std::cout << "  undisturbed " << undisturbed << '\n';
  CHECK(std::abs(score - undisturbed) <= kTolerance);
}

TEST_CASE("IMPALA learns on whatever happens", "[fault][chaos]") {
  run_chaos(chaotic(testing::tiny_config()));
}

TEST_CASE("Expert iteration learns on whatever happens", "[fault][chaos]") {
  run_chaos(chaotic(testing::tiny_expert_config()));
}

TEST_CASE("Ape-X learns on whatever happens", "[fault][chaos]") {
  run_chaos(chaotic(testing::tiny_apex_config()));
}

}  // namespace
}  // namespace pacml

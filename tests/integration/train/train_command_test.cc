// `pacml train`, from its first line to what it leaves.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "apps/evaluation/trained_run.h"
#include "apps/run/run_directory.h"
#include "apps/run/run_tags.h"
#include "env/tasks/placement_shaping/config.h"
#include "learner/network_training.h"
#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/partitioning_of.h"
#include "tests/support/run_checkpoint.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::newest_checkpoint;
using testing::Outcome;
using testing::pacml;
using testing::Pacml;
using testing::tiny_config;
using testing::Workplace;

using Words = std::vector<std::string>;

Words train(const Workplace& place, const Words& options) {
  Words words = {"train", place.config_file(), "--run", place.run()};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

bool has_learner(const Pacml& process) {
  return std::ranges::any_of(testing::children_of(process.pid()), [](const auto& child) {
    return child.second.find("pacml-learner") != std::string::npos;
  });
}

// What goes in comes out: of every decision received it is known what became of it.
void check_balance(const json& line) {
  const auto& config = tiny_config();
  const std::int64_t message = config.actor.environments * config.actor.unroll_length;
  const std::int64_t gathered = line["decisions"].get<std::int64_t>() -
                                line["samples"].get<std::int64_t>() -
                                line["stale"].get<std::int64_t>();
  CHECK(gathered >= 0);
  CHECK(gathered < config.impala.batch_decisions + message);
  CHECK(line["decisions"].get<std::int64_t>() % message == 0);
  CHECK(line["messages"].get<std::int64_t>() * message >= line["decisions"].get<std::int64_t>());
  for (const char* key : {"gaps", "duplicates", "malformed", "refused", "misfits"}) {
    INFO(key);
    CHECK(line[key] == 0);
  }
}

TEST_CASE("training from end to end, and going on from there", "[integration][train]") {
  const Workplace place;
  const Outcome first = pacml(train(place, {"--decisions", "20000", "--actors", "2"}));
  INFO(first.err);
  REQUIRE(first.code == 0);
  CHECK(first.err.empty());
  CHECK_THAT(first.out, Catch::Contains("of 20.0 k decisions"));
  for (const char* file :
       {"config.yaml", "metrics.jsonl", "checkpoints/best.safetensors", "logs/learner.log"}) {
    INFO(file);
    CHECK(fs::file_size(place / "run" / file) > 0);
  }
  // As many as there are: exploration is shared out among them.
  CHECK_THAT(testing::text_of(place / "run/config.yaml"), Catch::Contains("\nactors: 2\n"));
  // On a busy machine one of the two may be done before the other one has begun.
  CHECK((place.log("actor-0") + place.log("actor-1")).find("joined run") != std::string::npos);

  const auto lines = place.metrics();
  REQUIRE_FALSE(lines.empty());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    for (const char* key : {"decisions", "samples", "updates", "episodes", "messages", "seconds"}) {
      INFO(key);
      CHECK(lines[i][key] >= lines[i - 1][key]);
    }
  }
  const json& last = lines.back();
  CHECK(last["decisions"] >= 20'000);
  CHECK(last["actors"] >= 1);
  CHECK(last["actors"] <= 2);
  bool lag_was_measured = false;
  for (const json& line : lines) {
    if (!line.contains("policy_lag")) continue;
    lag_was_measured = true;
    CHECK(line["policy_lag"]["p99"] <= tiny_config().impala.max_policy_lag);
  }
  CHECK(lag_was_measured);
  CHECK(last["evaluation"]["best"].is_number());
  check_balance(last);

  const auto checkpoint = newest_checkpoint(place);
  for (const char* key : {"decisions", "samples", "updates", "episodes", "stale"}) {
    INFO(key);
    CHECK(checkpoint.counters.at(key) == last[key]);
  }
  CHECK(checkpoint.run_id == "run");

  const Outcome again = pacml(train(place, {"--resume", "--decisions", "30000"}));
  INFO(again.err);
  REQUIRE(again.code == 0);
  CHECK_THAT(again.out,
             Catch::Contains("of 30.0 k decisions") && !Catch::Contains("| 0 of 30.0 k decisions"));
  const auto all = place.metrics();
  REQUIRE(all.size() > lines.size());
  CHECK(all[lines.size()]["decisions"] >= last["decisions"]);
  CHECK(all[lines.size()]["seconds"] > last["seconds"]);
  CHECK(all.back()["decisions"] >= 30'000);
  CHECK(newest_checkpoint(place).counters.at("updates") > checkpoint.counters.at("updates"));
}

// Of a training that ended well: something was learned, and nothing of the actors' was lost.
void check_learned(const Workplace& place) {
  const json last = place.metrics().back();
  CHECK(last["updates"] > 0);
  for (const char* key : {"gaps", "duplicates", "malformed", "misfits"}) {
    INFO(key);
    CHECK(last[key] == 0);
  }
}

// The same cluster and jobs, where degree and block are chosen at once.
env::TaskConfig shaping_of(const env::PartitioningConfig& partitioning) {
  env::TaskConfig task("placement_shaping");
  auto& settings = task.as<env::PlacementShapingConfig>();
  const env::RampTaskConfig& common = partitioning;
  static_cast<env::RampTaskConfig&>(settings) = common;
  settings.joint = true;
  settings.max_blocks = 4;
  return task;
}

TEST_CASE("a policy that sees the cluster is trained by every algorithm, and decides",
          "[integration][train]") {
  auto config = GENERATE(testing::tiny_config(), testing::tiny_apex_config());
  const bool shapes_placements = GENERATE(false, true);
  if (config.algorithm == apps::AlgorithmKind::kImpala) {
    config.algorithm =
        GENERATE(apps::AlgorithmKind::kImpala, apps::AlgorithmKind::kPpo,
                 apps::AlgorithmKind::kReinforce, apps::AlgorithmKind::kExpertIteration);
  }
  testing::show_candidates(config);
  if (shapes_placements) {
    config.env = shaping_of(testing::partitioning_of(config));
    config.network.encoders = {
        {.slot = "job", .kind = model::EncoderKind::kDeepSet, .width = 4, .blocks = 1},
        {.slot = "servers", .width = 6, .blocks = 1}};
  }
  config.ppo.batch_decisions = 400;
  config.ppo.minibatch_decisions = 100;
  config.reinforce.batch_decisions = 400;
  config.expert = {.futures = 2, .horizon = 3};
  config.impala.centre_rewards = config.apex.centre_rewards = shapes_placements;
  if (shapes_placements) config.apex.heads = model::ValueHeads::kActions;
  config.expert_iteration.batch_decisions = 400;
  config.learner.threads = shapes_placements ? 2 : 1;
  const Workplace place(config);
  const Outcome trained = pacml(train(place, {"--decisions", "5000", "--actors", "1"}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  check_learned(place);
  const Outcome judged =
      pacml({"eval", place.config_file(), "--policy",
             place.run() + "," + place.run() + "+search:K=2,H=3", "--seeds", "2"});
  INFO(judged.err);
  CHECK(judged.code == 0);

  for (const std::string format : {"torchscript", "safetensors", "onnx"}) {
    const Outcome exported = pacml(
        {"export", place.run(), "--format", format, "--out", place.run() + "/policy." + format});
    INFO(exported.err);
    CHECK(exported.code == 0);
  }
  // Another task's decisions are none that it was trained for.
  const Workplace other;
  const Outcome elsewhere =
      pacml({"eval", other.config_file(), "--policy", place.run(), "--seeds", "1"});
  CHECK(elsewhere.code == 2);
  CHECK_THAT(elsewhere.err, Catch::Contains("was trained for other decisions"));
}

TEST_CASE("one set of weights is trained on clusters of several sizes, and decides on another one",
          "[integration][train]") {
  auto config = testing::tiny_config();
  testing::show_candidates(config, env::ObservationKind::kAnyCluster);
  testing::partitioning_of(config).further_topologies = {{3, 3, 1}, {4, 4, 2}};
  config.algorithm = GENERATE(apps::AlgorithmKind::kPpo, apps::AlgorithmKind::kExpertIteration);
  config.ppo.batch_decisions = 400;
  config.ppo.minibatch_decisions = 100;
  config.expert = {.futures = 2, .horizon = 3};
  config.expert_iteration.batch_decisions = 400;
  // Shares of the servers alone, or their graph besides, whichever it is.
  if (GENERATE(false, true)) {
    config.network.encoders = {{.slot = "servers", .width = 6, .blocks = 1}};
  }
  const Workplace place(config);
  const Outcome trained = pacml(train(place, {"--decisions", "5000", "--actors", "2"}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  check_learned(place);
  // Not one of those.
  const auto judge = [&](const std::string& policy) {
    return pacml({"eval", place.config_file(), "--set", "env.ramp.topology=[3,3,2]", "--set",
                  "env.further_topologies=[]", "--policy", policy, "--seeds", "2"});
  };
  for (const char* search : {"", "+search:K=2,H=3"}) {
    const Outcome judged = judge(place.run() + search);
    INFO(judged.err);
    CHECK(judged.code == 0);
    CHECK_THAT(judged.out, Catch::Contains("run"));
  }
}

TEST_CASE("a policy that sees server by server is refused on another topology of equal size",
          "[integration][train]") {
  auto config = testing::tiny_config();
  testing::show_candidates(config);
  const Workplace place(config);
  const Outcome trained = pacml(train(place, {"--decisions", "2000"}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const std::string elsewhere = "env.ramp.topology=[4,2,1]";
  const std::string sentence =
      place.run() +
      " was trained on the servers of topology 2x2x2, which its decisions show one by one, and is "
      "not for those of topology 4x2x1";
  const Outcome judged = pacml(
      {"eval", place.config_file(), "--set", elsewhere, "--policy", place.run(), "--seeds", "2"});
  CHECK(judged.code == 2);
  CHECK(judged.err == "pacml: " + sentence + "\n");
  const Outcome asked = pacml({"decide", place.run(), "--set", elsewhere});
  CHECK(asked.code == 2);
  CHECK_THAT(asked.err, Catch::Contains(sentence));
  const Outcome resumed =
      pacml(train(place, {"--resume", "--decisions", "4000", "--set", elsewhere}));
  CHECK(resumed.code == 2);
  CHECK_THAT(resumed.err,
             Catch::Contains("env.ramp.topology is [4, 2, 1], and [2, 2, 2] in the run"));
  const Workplace next(config);
  const Outcome begun = pacml(train(next, {"--decisions", "2000", "--set", elsewhere, "--set",
                                           "warm_start.from=" + place.run()}));
  CHECK(begun.code == 2);
  CHECK_THAT(begun.err, Catch::Contains(sentence));
}

TEST_CASE("a run starts with another run's policy, whatever its algorithm",
          "[integration][train]") {
  const Workplace first;
  REQUIRE(pacml(train(first, {"--decisions", "4000"})).code == 0);
  auto config = tiny_config();
  config.seed = 2;
  config.algorithm = apps::AlgorithmKind::kPpo;
  config.warm_start.from = first.run();
  // Nothing is learned, so that what it starts with is what it ends with.
  config.ppo.learning_rate.start = 1e-30;
  config.ppo.batch_decisions = 400;
  const Workplace second(config);
  const Outcome trained = pacml(train(second, {"--decisions", "2000"}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const Outcome judged =
      pacml({"eval", second.config_file(), "--policy", first.run() + "," + second.run(), "--seeds",
             "5", "--out", second.run() + "/e.json"});
  REQUIRE(judged.code == 0);
  const auto policies = json::parse(testing::text_of(second.run() + "/e.json"))["policies"];
  CHECK(policies[0]["blocking_rate"] == policies[1]["blocking_rate"]);

  const auto refused = [&](const Words& options) {
    const Workplace other(tiny_config());
    const Outcome outcome = pacml(train(other, options));
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused({"--decisions", "1000", "--set", "warm_start.from=" + first.run(), "--set",
                      "network.readout_width=8"}),
             Catch::Contains("is of another network than this configuration's"));
  CHECK_THAT(refused({"--decisions", "1000", "--set", "warm_start.from=/nowhere"}),
             Catch::Contains("/nowhere"));
  CHECK_THAT(refused({"--decisions", "1000", "--set", "warm_start.from=" + first.run(), "--set",
                      "warm_start.policy=best_constant"}),
             Catch::Contains("warm_start.from: ") || Catch::Contains("from: starts with"));
}

TEST_CASE("whoever starts with a run that has lost its best policy is told",
          "[integration][train]") {
  const Workplace first;
  REQUIRE(pacml(train(first, {"--decisions", "4000"})).code == 0);
  const auto best = std::filesystem::path(first.run()) / "checkpoints" / "best.safetensors";
  REQUIRE(std::filesystem::exists(best));
  std::filesystem::resize_file(best, 10);
  const auto begin_as = [](const Workplace& place, const std::string& run) {
    return pacml(
        train(place, {"--deterministic", "--decisions", "500", "--set", "warm_start.from=" + run}));
  };
  const Workplace second;
  const Outcome nowhere = begin_as(second, "/nowhere");
  CHECK(nowhere.code == 2);
  // In the same folder: what could not begin is no run.
  const Outcome begun = begin_as(second, first.run());
  INFO(begun.err);
  CHECK(begun.code == 0);
  CHECK_THAT(begun.err, Catch::Contains("need not be as good"));
}

TEST_CASE("what another run's policy says of values is taken in the unit of rewards",
          "[integration][train]") {
  const Workplace first;
  // Its last policy: the best one may be the first, which has no unit yet.
  REQUIRE(
      pacml(train(first, {"--decisions", "4000", "--set", "learner.evaluate_episodes=0"})).code ==
      0);
  const auto config = tiny_config();
  const auto before = apps::load_trained_run(first.run(), config.env.make()->spec());
  REQUIRE(before.valued->values != before.parameters.values);  // its own unit is another

  const auto begun_as = [&](const std::string& normalisation, double scale = 1) {
    auto next = config;
    next.impala.reward_scale = scale;
    next.warm_start.from = first.run();
    next.impala.learning_rate.start = 1e-30;  // what it starts with is what it ends with
    const Workplace second(next);
    const Outcome trained = pacml(train(
        second, {"--decisions", "500", "--set", "impala.value_normalisation=" + normalisation}));
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    return newest_checkpoint(second).algorithm.vectors.at("parameters");
  };
  CHECK(begun_as("none") == before.valued->values);
  auto scaled = before.valued->values;
  learner::scale_values(4, model::make_layout(before.shape), before.heads, scaled);
  CHECK(begun_as("none", 4) == scaled);
  // The first targets' moments are the new unit, for what was said in the old one.
  CHECK(begun_as("popart") != before.valued->values);
}

TEST_CASE("a run that reaches its limit while learning diverges ends with a sentence and code 2",
          "[integration][train]") {
  // Each update is skipped; the limit comes long before a hundred of them.
  const auto until = [](const std::string& decisions) {
    return Words{"--decisions", decisions, "--set", "impala.learning_rate.start=1000"};
  };
  const auto is_told = [](const Outcome& outcome) {
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    // By the learner; or by the actor, should the first weights that it ever gets be of that kind.
    CHECK_THAT(outcome.err, (Catch::Contains("learning has diverged: each of the ") &&
                             Catch::Contains("smaller impala.learning_rate")) ||
                                Catch::Contains("can be acted upon: learning has diverged; see "));
  };
  const Workplace place;
  is_told(pacml(train(place, until("20000"))));
  CHECK_FALSE(place.checkpoints().empty());
  Words resumed = train(place, until("40000"));
  resumed.push_back("--resume");
  is_told(pacml(resumed));  // what was known before is kept, and does not go on better
}

TEST_CASE("deterministic training is the same bit for bit, and differs with the seed",
          "[integration][train]") {
  const std::string threads = GENERATE("1", "3");
  const auto trained = [&](const std::string& seed) {
    const Workplace place;
    const Outcome outcome =
        pacml(train(place, {"--deterministic", "--decisions", "4000", "--set", "seed=" + seed,
                            "--set", "learner.threads=" + threads}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK_THAT(outcome.out, Catch::EndsWith("metrics.jsonl tells how far it is\n"));
    check_balance([&] {
      json line = place.metrics().back();
      line["messages"] = line["decisions"];  // there are none between processes
      return line;
    }());
    return newest_checkpoint(place).algorithm;
  };
  const auto first = trained("1");
  CHECK(trained("1") == first);
  CHECK_FALSE(trained("2") == first);
}

TEST_CASE("training for a time ends by itself", "[integration][train]") {
  const Workplace place;
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = pacml(train(place, {"--minutes", "0.01"}));
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(600));
  CHECK(place.metrics().back()["seconds"] > 0);  // less the time that it took to start
}

TEST_CASE("a run's folder that goes while it is trained ends the run with a sentence",
          "[integration][train]") {
  const Workplace place;
  Pacml process(train(place, {}));
  place.wait_for_decisions(1'000);
  testing::wait_until("the folder is gone", [&] {
    std::error_code busy;  // the learner may write into it at the same time
    fs::remove_all(place.run(), busy);
    return !fs::exists(place.run());
  });
  process.signal(SIGTERM);
  CHECK(process.end() == 2);
  CHECK_THAT(process.err(), Catch::Contains("the last checkpoint could not be written"));
  CHECK_FALSE(fs::exists(place.run()));
}

TEST_CASE("who would go on with a run that is being trained is told so", "[integration][train]") {
  const Workplace place;
  REQUIRE(pacml(train(place, {"--decisions", "400"})).code == 0);
  const apps::RunLock trained(apps::RunDirectory::open(place.run()));
  const Outcome second = pacml(train(place, {"--resume", "--decisions", "800"}));
  CHECK(second.code == 75);
  CHECK_THAT(second.err, Catch::Contains(" is training in " + place.run() + " already"));
  CHECK(second.out.empty());
}

TEST_CASE("a learner to which nobody came says that nothing was learned", "[integration][train]") {
  const Workplace place;
  const Outcome outcome = pacml({"learner", place.config_file(), "--run", place.run(), "--bind",
                                 "ipc://" + (place / "alone.sock").string(), "--minutes", "0.005"});
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, Catch::StartsWith("nothing was learned: "));
}

TEST_CASE("a run whose experience was not enough for an update says so", "[integration][train]") {
  auto config = tiny_config();
  std::string why;
  SECTION("since an update needs more of it") {
    config.impala.batch_decisions = 1'000'000;
    why = "nothing was learned: what actors sent was not enough for one update\n";
  }
  SECTION("since no episode ends soon enough to be learned from") {
    config.algorithm = apps::AlgorithmKind::kReinforce;
    config.reinforce.batch_decisions = 200;
    config.reinforce.longest_episode = 30;
    testing::partitioning_of(config).cluster.max_simulation_time = 1e9;
    testing::partitioning_of(config).workload.replication_factor = 100'000;
    why = "none was of an episode that ends within reinforce.longest_episode\n";
  }
  const Workplace place(config);
  const Outcome outcome = pacml(train(place, {"--decisions", "2000"}));
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, Catch::Contains("nothing was learned: ") && Catch::EndsWith(why));
  CHECK(place.metrics().back()["updates"] == 0);
}

TEST_CASE("training that is asked to stop leaves a checkpoint and ends with code 0",
          "[integration][train]") {
  const Workplace place;
  const bool deterministic = GENERATE(false, true);
  Pacml process(train(place, deterministic ? Words{"--deterministic", "--decisions", "1000000000"}
                                           : Words{"--actors", "2"}));
  place.wait_for_decisions(2'000);
  const int signal = GENERATE(SIGTERM, SIGINT);
  const auto children = testing::children_of(process.pid());
  CHECK(children.size() == (deterministic ? 0 : 3));
  process.signal(signal);
  CHECK(process.end() == 0);
  CHECK(process.err().empty());
  CHECK(newest_checkpoint(place).counters.at("decisions") == place.latest("decisions"));
  for (const auto& [pid, command] : children) {
    INFO(command);
    CHECK(::kill(pid, 0) != 0);  // nobody is left
  }
}

TEST_CASE("training that is stopped before it has begun says that nothing is saved",
          "[integration][train]") {
  const Workplace place;
  Pacml process(train(place, {"--tag", "t"}));
  testing::wait_until("the learner's process is there", [&] { return has_learner(process); });
  process.signal(SIGTERM);
  const int code = process.end();
  if (!place.checkpoints().empty()) {
    CHECK(code == 0);  // a machine so busy that it had begun
  } else {
    CHECK(code == 130);
    CHECK(process.err() == "stopped before training began: nothing is saved\n");
    CHECK(apps::tags_of(place.run()).empty());
    // The same command begins it as if nothing had been.
    const Outcome again = pacml(train(place, {"--decisions", "400"}));
    INFO(again.err);
    CHECK(again.code == 0);
  }
}

// A run whose warm start takes for ever.
testing::Workplace slow_to_start() {
  auto config = tiny_config();
  config.warm_start.policy = apps::WarmStart::kBestConstant;
  config.warm_start.episodes = 10'000;
  testing::partitioning_of(config).cluster.max_simulation_time = 5e6;
  return Workplace(config);
}

TEST_CASE("a warm start tells how far it is, and can be stopped and begun again",
          "[integration][train]") {
  const Workplace place = slow_to_start();
  Pacml process(train(place, {}));
  testing::wait_until("the warm start is told of", [&] {
    const auto lines = place.metrics();
    return !lines.empty() && lines.back().contains("warm_start") &&
           lines.back()["warm_start"]["done"] > 0 &&
           process.out().find("warm start: ") != std::string::npos;
  });
  process.signal(SIGINT);
  CHECK(process.end() == 130);
  CHECK(process.err() == "stopped before training began: nothing is saved\n");
  CHECK(place.checkpoints().empty());

  const Outcome again =
      pacml(train(place, {"--decisions", "400", "--set", "warm_start.policy=none"}));
  INFO(again.err);
  CHECK(again.code == 0);
}

TEST_CASE("a run that imitates begins with what its teacher does", "[integration][train]") {
  auto config = tiny_config();
  config.algorithm = apps::AlgorithmKind::kPpo;
  config.warm_start = {.policy = apps::WarmStart::kImitate,
                       .probability = 0.99,
                       .teacher = "constant:2",
                       .decisions = 2'000,
                       .passes = 20,
                       .minibatch_decisions = 128,
                       .learning_rate = 1e-2};
  config.ppo.learning_rate.start = 1e-30;  // what it starts with is what it ends with
  const Workplace place(config);
  const Outcome trained = pacml(train(place, {"--decisions", "400"}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  bool told = false;
  for (const auto& line : place.metrics()) {
    told = told || (line.contains("warm_start") && line["warm_start"]["of"] == 20 &&
                    line["warm_start"]["unit"] == "passes");
  }
  CHECK(told);
  const Outcome judged =
      pacml({"eval", place.config_file(), "--policy", place.run() + ",constant:2,constant:1",
             "--seeds", "5", "--out", place.run() + "/e.json"});
  REQUIRE(judged.code == 0);
  const auto policies = json::parse(testing::text_of(place.run() + "/e.json"))["policies"];
  CHECK(policies[0]["blocking_rate"] == policies[1]["blocking_rate"]);
  CHECK(policies[0]["blocking_rate"] != policies[2]["blocking_rate"]);

  const Outcome refused =
      pacml(train(Workplace(config), {"--set", "warm_start.teacher=nobody", "--decisions", "400"}));
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("warm_start.teacher: ") && Catch::Contains("nobody"));
  const Outcome choice = pacml(train(
      Workplace(config), {"--set", "warm_start.teacher=best_constant", "--decisions", "400"}));
  CHECK(choice.code == 2);
  CHECK_THAT(choice.err,
             Catch::Contains("warm_start.teacher: ") && Catch::Contains("whichever of"));
}

TEST_CASE("a warm start that takes longer than the run may is said, and ends the run",
          "[integration][train]") {
  const Workplace place = slow_to_start();
  const Outcome outcome = pacml(train(place, {"--minutes", "0.02"}));
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, Catch::Contains("--minutes: the time was up after ") &&
                              Catch::Contains(" episodes of the warm start"));
}

TEST_CASE("a resumed run takes harmless changes, and its configuration tells them",
          "[integration][train]") {
  const Workplace place;
  REQUIRE(pacml(train(place, {"--decisions", "400"})).code == 0);
  const Outcome resumed = pacml(
      train(place, {"--resume", "--decisions", "1200", "--set", "learner.metrics_seconds=0.25"}));
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK(resumed.err == "learner.metrics_seconds: 0.25 from now on, 0.1 before\n");
  CHECK_THAT(testing::text_of(place / "run" / "config.yaml"),
             Catch::Contains("metrics_seconds: 0.25"));
}

TEST_CASE("a run on its own models is resumed on them without being told", "[integration][train]") {
  const Workplace place;
  fs::create_directories(place / "models" / "alexnet");
  std::ofstream(place / "models" / "alexnet" / "graph.txt")
      << "node1 -- A -- forward_compute_time=1.0, backward_compute_time=2.0, "
         "activation_size=1000, parameter_size=500\n";
  REQUIRE(
      pacml(train(place, {"--decisions", "400", "--profiles", (place / "models").string()})).code ==
      0);
  const Outcome resumed = pacml(train(place, {"--resume", "--decisions", "1200"}));
  CHECK(resumed.code == 0);
  CHECK(resumed.err.empty());
  CHECK_THAT(testing::text_of(place / "run" / "config.yaml"),
             Catch::Contains((place / "models").string()));

  fs::remove_all(place / "models");
  const Outcome gone = pacml(train(place, {"--resume", "--decisions", "2000"}));
  CHECK(gone.code == 2);
  CHECK_THAT(gone.err, Catch::Contains((place / "models").string()) &&
                           Catch::Contains("name theirs with --profiles"));
}

// A record of so many jobs of the tiny run's model.
void write_record(const fs::path& file, int jobs, double fraction) {
  std::ofstream out(file);
  out << "arrival,model,fraction\n";
  for (int n = 0; n < jobs; ++n) {
    out << 900 * n << ",alexnet," << fraction + 0.004 * (n % 50) << "\n";
  }
}

TEST_CASE("a run is trained on what is known of a record, and judged by the rest",
          "[integration][train]") {
  const Workplace place;
  const std::string record = (place / "jobs.csv").string();
  const Words recorded = {"--set", "env.workload.recorded.file=" + record};
  const auto with = [&](Words words, const Words& more) {
    words.insert(words.end(), recorded.begin(), recorded.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  write_record(record, 100, 0.5);
  const Outcome trained = pacml(with(train(place, {"--decisions", "800"}), {}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const std::string scores = (place / "scores.json").string();
  const Outcome judged = pacml(with({"eval", place.config_file()},
                                    {"--set", "env.workload.recorded.part=rest", "--policy",
                                     place.run() + ",para_max", "--seeds", "3", "--out", scores}));
  INFO(judged.err);
  REQUIRE(judged.code == 0);
  CHECK(json::parse(testing::text_of(scores)).dump().find("para_max") != std::string::npos);

  const auto go_on = [&](const Words& options) { return pacml(with(train(place, options), {})); };
  const Outcome resumed = go_on({"--resume", "--decisions", "1200"});
  CHECK(resumed.code == 0);
  write_record(record, 101, 0.5);
  const Outcome changed = go_on({"--resume", "--decisions", "2000"});
  CHECK(changed.code == 2);
  CHECK(changed.err ==
        "pacml: the run was trained on another file: what env.workload.recorded.file names has "
        "changed since; put back what was there, or begin another run\n");
  write_record(record, 100, 0.5);
  CHECK(go_on({"--resume", "--decisions", "2000"}).code == 0);
  fs::remove(record);
  const Outcome gone = go_on({"--resume", "--decisions", "2400"});
  CHECK(gone.code == 2);
  CHECK_THAT(gone.err, Catch::Contains(record + ": it cannot be read"));
}

TEST_CASE("a second signal ends the waiting, and the checkpoint is there all the same",
          "[integration][train]") {
  auto config = tiny_config();
  config.learner.checkpoint_seconds = 1e6;  // none between the first and the last
  config.learner.evaluate_seconds = 1e6;
  config.learner.evaluate_episodes = 1'000'000;  // the last evaluation takes minutes
  const Workplace place(config);
  Pacml process(train(place, {}));
  place.wait_for_decisions(2'000);
  const auto before = place.checkpoints();
  process.signal(SIGTERM);
  testing::wait_until("the last checkpoint is written",
                      [&] { return place.checkpoints().back() > before.back(); });
  process.signal(SIGINT);
  CHECK(process.end() == 128 + SIGKILL);
  CHECK_THAT(process.err(), Catch::Contains("--resume goes on from its last checkpoint"));
}

TEST_CASE("a checkpoint is written when one is asked for", "[integration][train]") {
  auto config = tiny_config();
  config.learner.checkpoint_seconds = 1e6;
  const Workplace place(config);
  Pacml process(train(place, {}));
  testing::wait_until("the learner's process is there", [&] { return has_learner(process); });
  process.signal(SIGUSR1);  // before anybody could hear it: kept until somebody can, kills nobody
  place.wait_for_decisions(2'000);
  // Two checkpoints of one update are one file: the early request may have left none of its own.
  const auto before = place.checkpoints();
  process.signal(SIGUSR1);
  testing::wait_until("one more checkpoint is there",
                      [&] { return place.checkpoints().size() > before.size(); });
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
}

TEST_CASE("as many checkpoints are kept as is asked for", "[integration][train]") {
  auto config = tiny_config();
  config.learner.keep_checkpoints = 2;
  config.learner.checkpoint_seconds = 0.01;
  const Workplace place(config);
  REQUIRE(pacml(train(place, {"--deterministic", "--decisions", "8000"})).code == 0);
  CHECK(place.checkpoints().size() == 2);
  CHECK(newest_checkpoint(place).counters.at("decisions") >= 8'000);
}

TEST_CASE("an actor that finds no learner for as long as it may look ends with code 75",
          "[integration][train]") {
  const Workplace place;
  const Outcome alone = pacml({"actor", place.config_file(), "--id", "0", "--learner",
                               place.socket(), "--set", "patience.give_up_seconds=0.5"});
  CHECK(alone.code == 75);
  CHECK_THAT(alone.err, Catch::Contains("learner"));
  // Nor does it log into what it is to read.
  const Outcome refused = pacml({"actor", place.config_file(), "--id", "0", "--learner",
                                 place.socket(), "--log", place.config_file()});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("--log " + place.config_file()));
}

TEST_CASE("one process takes nothing that is for several", "[integration][train]") {
  const Workplace place;
  for (const Words& more : {Words{"--actors", "2"}, Words{"--bind", "tcp://127.0.0.1:*"}}) {
    Words words = {"--deterministic", "--decisions", "400", "--tag", "t"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome refused = pacml(train(place, words));
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Catch::Contains("without " + more.front()));
    CHECK_FALSE(fs::exists(place.run()));  // nor a tag that stays for the next run there
  }
  for (const Words& more :
       {Words{"--bind", place.socket()}, Words{"--replay", place.socket()}, Words{"--replica", "1"},
        Words{"--leader", place.socket()}, Words{"--all-reduce-host", "localhost"}}) {
    Words words = {"learner", place.config_file(), "--run", place.run(), "--in-process-actor"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome refused = pacml(words);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Catch::Contains("without " + more.front()));
  }
}

TEST_CASE("a run that never began keeps its settings until others are named",
          "[integration][train]") {
  const Workplace place;
  REQUIRE(pacml(train(place, {"--decisions", "400"})).code == 0);
  fs::remove_all(place / "run" / "checkpoints");  // as if it had ended before the first
  const auto settings = place / "run" / "config.yaml";
  const std::string before = testing::text_of(settings);
  const Outcome refused = pacml({"train", "--run", place.run(), "--continue"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("CONFIG is required"));
  CHECK(testing::text_of(settings) == before);
  CHECK(pacml(train(place, {"--continue", "--decisions", "400"})).code == 0);
}

TEST_CASE("a run is called by its folder's name, however the folder is spelled",
          "[integration][train]") {
  const Workplace place;
  const Outcome outcome = pacml({"train", place.config_file(), "--run", place.run() + "/",
                                 "--deterministic", "--decisions", "400"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(newest_checkpoint(place).run_id == "run");
}

}  // namespace
}  // namespace pacml

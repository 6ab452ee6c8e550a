// `pacml bench learner`: what it measures of a configuration, and what it refuses.

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/partitioning_of.h"

namespace pacml {
namespace {

using testing::pacml;
using testing::Workplace;

// What every algorithm can learn from, shown as candidates.
apps::TrainConfig candidates_by(apps::AlgorithmKind algorithm) {
  const bool replays = apps::uses_replay(algorithm);
  apps::TrainConfig config = replays ? testing::tiny_apex_config() : testing::tiny_expert_config();
  config.algorithm = algorithm;
  testing::show_candidates(config);
  config.ppo.batch_decisions = config.reinforce.batch_decisions = 400;
  config.ppo.minibatch_decisions = 100;
  return config;
}

TEST_CASE("pacml bench learner measures what a configuration learns, by each algorithm",
          "[integration][bench]") {
  const auto algorithm =
      GENERATE(apps::AlgorithmKind::kImpala, apps::AlgorithmKind::kPpo, apps::AlgorithmKind::kApex,
               apps::AlgorithmKind::kExpertIteration, apps::AlgorithmKind::kReinforce);
  const auto config = candidates_by(algorithm);
  INFO(name_of(algorithm));
  const Workplace place(config);
  const std::string out = (place / "bench.json").string();
  const auto outcome = pacml({"bench", "learner", "--config", place.config_file(), "--out", out});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("learner\n") && Catch::Contains("samples_per_second"));
  const auto report = nlohmann::json::parse(testing::text_of(out));
  REQUIRE(report.size() == 1);  // the configuration's algorithm alone
  const auto& figures = report.at("learner");
  CHECK(figures.at("samples_per_second") > 0);
  CHECK(figures.at("update_seconds") > 0);
  CHECK_THAT(figures.at("machine").at("math").get<std::string>(), Catch::StartsWith("LibTorch "));
  // An update is as large as in training.
  const auto batch = apps::update_size_of(config).batch_decisions;
  // Whole messages are learned from, and each decision counts once, however many passes there are.
  // REINFORCE learns from whole episodes.
  if (algorithm == apps::AlgorithmKind::kReinforce) return;
  const auto message =
      apps::uses_replay(algorithm) ? 1 : config.actor.environments * config.actor.unroll_length;
  CHECK(figures.at("samples_per_update") >= batch);
  CHECK(figures.at("samples_per_update") < batch + message);
}

TEST_CASE("pacml bench learner says what of a configuration it cannot measure",
          "[integration][bench]") {
  const Workplace place;
  const std::string wrong = (place / "wrong.yaml").string();
  std::ofstream(wrong) << "impala: {batch_decisions: none}\n";
  const auto refused = pacml({"bench", "learner", "--config", wrong});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains(wrong + ":1: impala.batch_decisions"));

  const auto alone = pacml({"bench", "learner", "--profiles", place.run()});
  CHECK(alone.code == 2);
  CHECK_THAT(alone.err, Catch::Contains("--profiles: the benchmark learner reads them with "));

  // No episode ends in time to be learned from.
  apps::TrainConfig config = candidates_by(apps::AlgorithmKind::kReinforce);
  config.reinforce.longest_episode = 30;
  testing::partitioning_of(config).cluster.max_simulation_time = 1e9;
  testing::partitioning_of(config).workload.replication_factor = 100'000;
  const Workplace endless(config);
  const auto in_vain = pacml({"bench", "learner", "--config", endless.config_file()});
  CHECK(in_vain.code == 2);
  CHECK(in_vain.err ==
        "measuring learner\n"
        "pacml: bench learner: 20 updates in a row came to nothing: what was acted is not learned "
        "from, or learning has diverged\n");
}

}  // namespace
}  // namespace pacml

#include "apps/roles/warm_start.h"

#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/random_run.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using Moments = std::map<std::string, double>;

const Moments kNone = {{"mean", 0}, {"mean_square", 1}, {"weight", 0}};
const Moments kSome = {{"mean", 3}, {"mean_square", 25}, {"weight", 0.5}};  // a deviation of 4

// What remains of the weights whose names begin with `part`: the factor by which all of them differ
// from those of the run.
float factor_of(const std::string& part, const TrainConfig& former, const Moments& moments,
                const TrainConfig& next) {
  const testing::TempDir folder;
  const std::string run = (folder / "run").string();
  testing::write_random_run(run, former, 3, moments);
  TrainConfig config = next;
  config.warm_start.from = run;
  const auto shape = testing::shape_of(config);
  const auto layout = model::make_layout(shape);
  const std::vector<float> before = model::random_parameters(shape, Seed{3}).values;
  const std::vector<float> begun = policy_to_start_with(config, *config.env.make(), layout);
  REQUIRE(begun.size() == before.size());
  std::vector<float> factors;
  for (const model::ParameterEntry& entry : layout.entries) {
    const bool is_meant = entry.name.starts_with(part);
    const bool is_head = entry.name.starts_with("value.") || entry.name.starts_with("logits.");
    for (std::size_t i = entry.offset; i < entry.offset + entry.size; ++i) {
      if (!is_head) CHECK(begun[i] == before[i]);
      if (is_meant && before[i] != 0) factors.push_back(begun[i] / before[i]);
    }
  }
  REQUIRE_FALSE(factors.empty());
  for (const float factor : factors) CHECK(factor == Approx(factors.front()));
  return factors.front();
}

TrainConfig config_of(AlgorithmKind kind) {
  TrainConfig config = testing::cluster_config();
  config.algorithm = kind;
  return config;
}

TEST_CASE("values in the unit of rewards are not taken for deviations of the first targets",
          "[unit][train]") {
  const TrainConfig impala = config_of(AlgorithmKind::kImpala);
  TrainConfig popart = impala;
  popart.impala.value_normalisation = learner::ValueNormalisation::kPopArt;
  for (const TrainConfig& next : {popart, config_of(AlgorithmKind::kPpo)}) {
    CHECK(factor_of("value.", impala, kNone, next) == 0);
    CHECK(factor_of("logits.", impala, kNone, next) == 1);  // preferences have no unit
    CHECK(factor_of("value.", impala, kSome, next) == 1);
  }
}

TEST_CASE("what actions are worth becomes small where its unit is that of rewards",
          "[unit][train]") {
  const TrainConfig apex = config_of(AlgorithmKind::kApex);
  const TrainConfig expert = config_of(AlgorithmKind::kExpertIteration);
  const float small = factor_of("logits.", apex, kNone, expert);
  CHECK(small > 0);  // the best action remains the best one
  CHECK(small <= 0.01F);
  CHECK(factor_of("logits.", apex, kSome, expert) == 1);
  CHECK(factor_of("logits.", config_of(AlgorithmKind::kImpala), kSome, expert) == Approx(0.01));
  // An algorithm whose values are in the unit of rewards takes them as they are, or brings them
  // there.
  CHECK(factor_of("logits.", apex, kNone, apex) == 1);
  CHECK(factor_of("logits.", apex, kSome, apex) == Approx(4));
}

}  // namespace
}  // namespace pacml::apps

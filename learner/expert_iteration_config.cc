#include "learner/expert_iteration_config.h"

#include "learner/config_checks.h"

namespace pacml::learner {
namespace {

constexpr std::int64_t kMostMemory = 100'000'000;
constexpr std::int64_t kMostSamples = 1000;

}  // namespace

std::vector<std::string> validate(const ExpertIterationConfig& config) {
  ConfigChecks checks;
  const auto size = [&](const char* key, std::int64_t value) {
    checks.require(value >= 1 && value <= kMostBatchDecisions, key, "from 1 to 1000000", value);
  };
  size("batch_decisions", config.batch_decisions);
  size("minibatch_decisions", config.minibatch_decisions);
  checks.require(config.max_policy_lag >= 0, "max_policy_lag", "at least 0", config.max_policy_lag);
  checks.require(config.memory_decisions >= 1 && config.memory_decisions <= kMostMemory,
                 "memory_decisions", "from 1 to 100000000", config.memory_decisions);
  checks.require(config.memory_share > 0 && config.memory_share <= 1, "memory_share",
                 "greater than 0 and at most 1", config.memory_share);
  checks.require(config.samples_per_decision >= 1 && config.samples_per_decision <= kMostSamples,
                 "samples_per_decision", "from 1 to 1000", config.samples_per_decision);
  checks.require(config.level_cost >= 0 && config.level_cost <= kGreatestScale, "level_cost",
                 "from 0 to 1e6", config.level_cost);
  checks.require(config.popart_rate > 0 && config.popart_rate <= 1, "popart_rate",
                 "greater than 0 and at most 1", config.popart_rate);
  checks.add(validate_range(config.learning_rate, "learning_rate", kGreatestLearningRate));
  return checks.take();
}

}  // namespace pacml::learner

#include "learner/reinforce_config.h"

#include "learner/config_checks.h"

namespace pacml::learner {
namespace {

constexpr std::int64_t kLongestEpisode = 2048;
constexpr std::int64_t kWidestWindow = 1000;
constexpr std::int64_t kMostBaselines = 10'000'000;

}  // namespace

std::vector<std::string> validate(const ReinforceConfig& config) {
  ConfigChecks checks;
  checks.require(config.batch_decisions >= 1 && config.batch_decisions <= kMostBatchDecisions,
                 "batch_decisions", "from 1 to 1000000", config.batch_decisions);
  checks.require(config.max_policy_lag >= 0, "max_policy_lag", "at least 0", config.max_policy_lag);
  checks.require(config.longest_episode >= 1 && config.longest_episode <= kLongestEpisode,
                 "longest_episode", "from 1 to 2048", config.longest_episode);
  checks.require(config.discount >= 0 && config.discount <= 1, "discount", "from 0 to 1",
                 config.discount);
  checks.require(config.baseline_window >= 1 && config.baseline_window <= kWidestWindow,
                 "baseline_window", "from 1 to 1000", config.baseline_window);
  checks.require(config.most_baselines >= 1 && config.most_baselines <= kMostBaselines,
                 "most_baselines", "from 1 to 10000000", config.most_baselines);
  if (config.advantage_scaling == AdvantageScaling::kValues) {
    checks.add("advantage_scaling must be none or batch: there are no values that were learned");
  }
  checks.require(config.entropy_offset >= 0 && config.entropy_offset <= 1, "entropy_offset",
                 "from 0 to 1", config.entropy_offset);
  checks.add(validate_range(config.learning_rate, "learning_rate", kGreatestLearningRate));
  checks.add(validate_range(config.entropy_cost, "entropy_cost", kGreatestScale));
  return checks.take();
}

}  // namespace pacml::learner

#include "learner/impala_config.h"

namespace pacml::learner {

std::vector<std::string> validate(const ImpalaConfig& config) {
  std::vector<std::string> problems;
  const auto require = [&problems](bool holds, const char* key, const char* what, auto value) {
    if (holds) return;
    problems.push_back(std::string(key) + " must be " + what + ", not " + std::to_string(value));
  };
  require(config.batch_decisions >= 1, "batch_decisions", "at least 1", config.batch_decisions);
  require(config.max_policy_lag >= 0, "max_policy_lag", "at least 0", config.max_policy_lag);
  require(config.discount >= 0 && config.discount <= 1, "discount", "from 0 to 1", config.discount);
  require(config.reward_scale > 0, "reward_scale", "greater than 0", config.reward_scale);
  require(config.popart_rate > 0 && config.popart_rate <= 1, "popart_rate",
          "greater than 0 and at most 1", config.popart_rate);
  require(config.value_cost >= 0, "value_cost", "at least 0", config.value_cost);
  if (config.advantage_scaling == AdvantageScaling::kValues &&
      config.value_normalisation != ValueNormalisation::kPopArt) {
    problems.emplace_back(
        "advantage_scaling: values needs value_normalisation: popart, which measures the values");
  }
  return problems;
}

}  // namespace pacml::learner

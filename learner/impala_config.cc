#include "learner/impala_config.h"

#include "learner/config_checks.h"

namespace pacml::learner {

std::vector<std::string> validate(const ImpalaConfig& config) {
  ConfigChecks checks;
  check_sequence_learning(config, checks);
  if (config.advantage_scaling == AdvantageScaling::kValues &&
      config.value_normalisation != ValueNormalisation::kPopArt) {
    checks.add(
        "advantage_scaling: values needs value_normalisation: popart, which measures the values");
  }
  return checks.take();
}

}  // namespace pacml::learner

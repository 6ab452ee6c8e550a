#include "learner/apex_config.h"

#include <algorithm>
#include <iterator>

#include "common/spell_number.h"

namespace pacml::learner {

std::vector<std::string> validate(const ApexConfig& config) {
  std::vector<std::string> problems;
  const auto require = [&problems](bool holds, const char* key, const char* what, auto value) {
    if (holds) return;
    problems.push_back(std::string(key) + " must be " + what + ", not " + spell_number(value));
  };
  require(config.batch_size >= 1 && config.batch_size <= 65536, "batch_size", "from 1 to 65536",
          config.batch_size);
  require(config.importance_exponent >= 0 && config.importance_exponent <= 1, "importance_exponent",
          "from 0 to 1", config.importance_exponent);
  require(config.target_period >= 1, "target_period", "at least 1", config.target_period);
  require(config.huber_delta > 0 && config.huber_delta <= 1e30, "huber_delta",
          "greater than 0 and at most 1e30", config.huber_delta);
  std::ranges::move(validate_range(config.learning_rate, "learning_rate", kGreatestLearningRate),
                    std::back_inserter(problems));
  require(config.popart_rate > 0 && config.popart_rate <= 1, "popart_rate",
          "greater than 0 and at most 1", config.popart_rate);
  return problems;
}

}  // namespace pacml::learner

#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "common/spell_number.h"
#include "learner/schedule.h"

// What the validate() functions of algorithms' configurations have in common.

namespace pacml::learner {

inline constexpr std::int64_t kMostBatchDecisions = 1'000'000;  // a batch is held in memory
inline constexpr double kGreatestScale = 1e6;  // beyond it float32 has nothing left

// Gathers problems, as sentences that begin with the key.
class ConfigChecks {
 public:
  template <class Value>
  void require(bool holds, const char* key, const char* what, Value value) {
    if (holds) return;
    problems_.push_back(std::string(key) + " must be " + what + ", not " + spell_number(value));
  }
  void add(std::vector<std::string> problems) {
    std::ranges::move(problems, std::back_inserter(problems_));
  }
  void add(const char* problem) { problems_.emplace_back(problem); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(problems_); }

 private:
  std::vector<std::string> problems_;
};

// Of an algorithm that learns from sequences, each once: IMPALA, PPO.
template <class Config>
void check_sequence_learning(const Config& config, ConfigChecks& checks) {
  checks.require(config.batch_decisions >= 1 && config.batch_decisions <= kMostBatchDecisions,
                 "batch_decisions", "from 1 to 1000000", config.batch_decisions);
  checks.require(config.max_policy_lag >= 0, "max_policy_lag", "at least 0", config.max_policy_lag);
  checks.require(config.discount >= 0 && config.discount <= 1, "discount", "from 0 to 1",
                 config.discount);
  checks.require(config.reward_scale > 0 && config.reward_scale <= kGreatestScale, "reward_scale",
                 "greater than 0 and at most 1e6", config.reward_scale);
  checks.require(config.popart_rate > 0 && config.popart_rate <= 1, "popart_rate",
                 "greater than 0 and at most 1", config.popart_rate);
  checks.require(config.value_cost >= 0 && config.value_cost <= kGreatestScale, "value_cost",
                 "from 0 to 1e6", config.value_cost);
  checks.add(validate_range(config.learning_rate, "learning_rate", kGreatestLearningRate));
  checks.add(validate_range(config.entropy_cost, "entropy_cost", kGreatestScale));
}

}  // namespace pacml::learner

#include "learner/ppo_config.h"

#include <algorithm>
#include <iterator>

#include "common/spell_number.h"

namespace pacml::learner {
namespace {

constexpr std::int64_t kMostBatchDecisions = 1'000'000;  // a batch is held in memory
constexpr std::int64_t kMostEpochs = 100;
constexpr double kGreatestScale = 1e6;  // beyond it float32 has nothing left

}  // namespace

std::vector<std::string> validate(const PpoConfig& config) {
  std::vector<std::string> problems;
  const auto require = [&problems](bool holds, const char* key, const char* what, auto value) {
    if (holds) return;
    problems.push_back(std::string(key) + " must be " + what + ", not " + spell_number(value));
  };
  const auto is_share = [](double value) { return value >= 0 && value <= 1; };
  require(config.batch_decisions >= 1 && config.batch_decisions <= kMostBatchDecisions,
          "batch_decisions", "from 1 to 1000000", config.batch_decisions);
  require(config.minibatch_decisions >= 1 && config.minibatch_decisions <= kMostBatchDecisions,
          "minibatch_decisions", "from 1 to 1000000", config.minibatch_decisions);
  require(config.epochs >= 1 && config.epochs <= kMostEpochs, "epochs", "from 1 to 100",
          config.epochs);
  require(config.max_policy_lag >= 0, "max_policy_lag", "at least 0", config.max_policy_lag);
  require(is_share(config.discount), "discount", "from 0 to 1", config.discount);
  require(is_share(config.lambda), "lambda", "from 0 to 1", config.lambda);
  require(config.reward_scale > 0 && config.reward_scale <= kGreatestScale, "reward_scale",
          "greater than 0 and at most 1e6", config.reward_scale);
  require(config.clip > 0 && config.clip <= kGreatestScale, "clip",
          "greater than 0 and at most 1e6", config.clip);
  require(config.popart_rate > 0 && config.popart_rate <= 1, "popart_rate",
          "greater than 0 and at most 1", config.popart_rate);
  require(config.value_cost >= 0 && config.value_cost <= kGreatestScale, "value_cost",
          "from 0 to 1e6", config.value_cost);
  std::ranges::move(validate_range(config.learning_rate, "learning_rate", kGreatestLearningRate),
                    std::back_inserter(problems));
  std::ranges::move(validate_range(config.entropy_cost, "entropy_cost", kGreatestScale),
                    std::back_inserter(problems));
  return problems;
}

}  // namespace pacml::learner

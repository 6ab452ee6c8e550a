#include "learner/ppo_config.h"

#include "learner/config_checks.h"

namespace pacml::learner {
namespace {

constexpr std::int64_t kMostEpochs = 100;

}  // namespace

std::vector<std::string> validate(const PpoConfig& config) {
  ConfigChecks checks;
  check_sequence_learning(config, checks);
  checks.require(
      config.minibatch_decisions >= 1 && config.minibatch_decisions <= kMostBatchDecisions,
      "minibatch_decisions", "from 1 to 1000000", config.minibatch_decisions);
  checks.require(config.epochs >= 1 && config.epochs <= kMostEpochs, "epochs", "from 1 to 100",
                 config.epochs);
  checks.require(config.lambda >= 0 && config.lambda <= 1, "lambda", "from 0 to 1", config.lambda);
  checks.require(config.clip > 0 && config.clip <= kGreatestScale, "clip",
                 "greater than 0 and at most 1e6", config.clip);
  return checks.take();
}

}  // namespace pacml::learner

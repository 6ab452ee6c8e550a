#include "apps/run/warm_start_config.h"

namespace pacml::apps {

std::vector<std::string> validate(const WarmStartConfig& c) {
  std::vector<std::string> problems;
  if (!(c.probability > 0 && c.probability < 1)) {
    problems.emplace_back("probability: must be above 0 and below 1");
  }
  if (c.episodes < 1 || c.episodes > 10'000) {
    problems.emplace_back("episodes: must be in 1..10000");
  }
  if (c.decisions < 1 || c.decisions > 10'000'000) {
    problems.emplace_back("decisions: must be in 1..10000000");
  }
  if (c.passes < 1 || c.passes > 1'000) problems.emplace_back("passes: must be in 1..1000");
  if (c.minibatch_decisions < 1 || c.minibatch_decisions > 65'536) {
    problems.emplace_back("minibatch_decisions: must be in 1..65536");
  }
  if (!(c.learning_rate > 0 && c.learning_rate <= 1)) {
    problems.emplace_back("learning_rate: must be above 0 and at most 1");
  }
  if (c.policy == WarmStart::kImitate && c.teacher.empty()) {
    problems.emplace_back("teacher: policy: imitate needs a baseline to imitate");
  }
  if (c.policy == WarmStart::kBestConstant && !c.teacher.empty()) {
    problems.emplace_back("teacher: is imitated, and goes with policy: imitate");
  }
  if (!c.from.empty() && c.policy != WarmStart::kNone) {
    problems.emplace_back("from: starts with the policy of a run, and goes with policy: none");
  }
  return problems;
}

}  // namespace pacml::apps

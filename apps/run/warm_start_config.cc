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
  if (!c.from.empty() && c.policy != WarmStart::kNone) {
    problems.emplace_back("from: starts with the policy of a run, and goes with policy: none");
  }
  return problems;
}

}  // namespace pacml::apps

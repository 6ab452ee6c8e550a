#include "actor/expert_config.h"

namespace pacml::actor {

std::vector<std::string> validate(const ExpertConfig& c) {
  constexpr std::int64_t kMostDecisions = 10'000;
  constexpr std::int64_t kMostVersions = 1'000'000'000;
  std::vector<std::string> problems;
  if (c.futures < 1 || c.futures > 1000) problems.emplace_back("futures: must be in 1..1000");
  if (c.horizon < 1 || c.horizon > kMostDecisions) {
    problems.emplace_back("horizon: must be in 1..10000");
  }
  if (c.first_horizon < 1 || c.first_horizon > kMostDecisions) {
    problems.emplace_back("first_horizon: must be in 1..10000");
  }
  if (c.first_versions < 0 || c.first_versions > kMostVersions) {
    problems.emplace_back("first_versions: must be in 0..1000000000");
  }
  if (c.centre_rewards && c.horizon < 2) {
    problems.emplace_back(
        "centre_rewards: needs a horizon of 2 or more, whose later decisions say what is usual");
  }
  // Written so that NaN is a problem, too.
  if (!(c.discount > 0 && c.discount <= 1)) {
    problems.emplace_back("discount: must be greater than 0 and at most 1");
  }
  if (!(c.exploration >= 0 && c.exploration <= 1)) {
    problems.emplace_back("exploration: must be from 0 to 1");
  }
  return problems;
}

}  // namespace pacml::actor

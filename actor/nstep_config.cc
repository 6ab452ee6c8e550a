#include "actor/nstep_config.h"

namespace pacml::actor {

std::vector<std::string> validate(const NstepConfig& c) {
  std::vector<std::string> problems;
  // Written so that NaN is a problem, too.
  if (c.n_step < 1 || c.n_step > 100) problems.emplace_back("n_step: must be in 1..100");
  if (!(c.discount >= 0 && c.discount <= 1)) problems.emplace_back("discount: must be from 0 to 1");
  if (!(c.reward_scale > 0 && c.reward_scale <= 1e9)) {
    problems.emplace_back("reward_scale: must be greater than 0 and at most 1e9");
  }
  return problems;
}

}  // namespace pacml::actor

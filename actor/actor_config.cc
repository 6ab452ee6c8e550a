#include "actor/actor_config.h"

namespace pacml::actor {

std::vector<std::string> validate(const ActorConfig& c) {
  constexpr std::int64_t kMost = 4096;  // what a message may hold
  std::vector<std::string> problems;
  if (c.environments < 1 || c.environments > kMost) {
    problems.emplace_back("environments: must be in 1..4096");
  }
  if (c.unroll_length < 1 || c.unroll_length > kMost) {
    problems.emplace_back("unroll_length: must be in 1..4096");
  }
  return problems;
}

}  // namespace pacml::actor

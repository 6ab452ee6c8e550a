#include "actor/actor_config.h"

namespace pacml::actor {

std::vector<std::string> validate(const ActorConfig& c) {
  // What a message may hold. Transitions of earlier steps may come on top of a message's own.
  constexpr std::int64_t kMost = 4096;
  constexpr std::int64_t kMostDecisions = 1 << 19;
  std::vector<std::string> problems;
  if (c.environments < 1 || c.environments > kMost) {
    problems.emplace_back("environments: must be in 1..4096");
  }
  if (c.unroll_length < 1 || c.unroll_length > kMost) {
    problems.emplace_back("unroll_length: must be in 1..4096");
  }
  if (problems.empty() && c.environments * c.unroll_length > kMostDecisions) {
    problems.emplace_back("unroll_length: times environments must be at most 524288");
  }
  return problems;
}

}  // namespace pacml::actor

#include "apps/evaluation/future.h"

#include <algorithm>
#include <limits>

#include "env/picture.h"

namespace pacml::apps {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

Future follow_until(const env::Environment& start, int action, const Decide& decide,
                    std::int64_t most_decisions, double until) {
  Future future;
  const auto environment = start.clone();
  const auto* pictured =
      tells_losses(*environment) ? dynamic_cast<const env::Pictured*>(environment.get()) : nullptr;
  while (!future.is_over && future.decisions < most_decisions && future.elapsed < until) {
    const int next = future.decisions == 0 ? action : decide(*environment);
    const env::StepResult result = environment->step(next);
    ++future.decisions;
    // Of a step that lasts longer than the stretch of time its share counts.
    const double length = static_cast<double>(result.elapsed);
    const double counted = std::min(length, until - future.elapsed);
    const double share = length > counted ? counted / length : 1;
    future.reward += share * reward_of_all(result, *environment);
    future.elapsed += counted;
    future.is_over = result.final();
    if (pictured == nullptr) continue;
    const auto outcome = pictured->picture().last;
    if (outcome && !outcome->kept) ++future.lost;
  }
  return future;
}

}  // namespace

double reward_of_all(const env::StepResult& result, const env::Environment& environment) {
  double reward = static_cast<double>(result.reward);
  for (const env::AgentReward& other : environment.other_rewards()) {
    reward += static_cast<double>(other.reward);
  }
  return reward;
}

bool tells_losses(const env::Environment& environment) {
  const auto* pictured = dynamic_cast<const env::Pictured*>(&environment);
  return pictured != nullptr && pictured->tells_losses();
}

Future follow(const env::Environment& start, int action, const Decide& decide,
              std::int64_t horizon) {
  return follow_until(start, action, decide, horizon, kNoEnd);
}

Future follow_beside(const Future& other, const env::Environment& start, int action,
                     const Decide& decide) {
  constexpr std::int64_t kTimesAsMany = 16;
  return follow_until(start, action, decide, kTimesAsMany * other.decisions,
                      other.is_over ? kNoEnd : other.elapsed);
}

}  // namespace pacml::apps

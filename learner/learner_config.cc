#include "learner/learner_config.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace pacml::learner {

Duration pause_after_evaluation(const LearnerConfig& config, Duration took) {
  const double seconds = std::chrono::duration<double>(took).count();
  return in_seconds(std::max(static_cast<double>(config.evaluate_seconds.count()),
                             seconds / config.evaluate_share - seconds));
}

std::vector<std::string> validate(const LearnerConfig& c) {
  std::vector<std::string> problems;
  const auto at_least = [&](const char* key, std::int64_t value, std::int64_t least,
                            std::int64_t most) {
    if (value < least || value > most) {
      problems.push_back(std::string(key) + ": must be in " + std::to_string(least) + ".." +
                         std::to_string(most));
    }
  };
  at_least("replicas", c.replicas, 1, 64);
  at_least("threads", c.threads, 1, 256);
  at_least("credits_per_actor", c.credits_per_actor, 1, 1024);
  at_least("max_actors", c.max_actors, 1, 1'000'000);
  at_least("max_waiting_bytes", c.max_waiting_bytes, 1 << 20, std::int64_t{1} << 50);
  at_least("keep_checkpoints", c.keep_checkpoints, 1, 1'000'000);
  at_least("evaluate_episodes", c.evaluate_episodes, 0, 1'000'000);
  if (!(c.evaluate_share > 0 && c.evaluate_share <= 1)) {
    problems.emplace_back("evaluate_share: must be above 0, and at most 1");
  }
  if (!(c.forget_seconds >= 1 && c.forget_seconds <= 1e6)) {
    problems.emplace_back("forget_seconds: must be in 1..1e6");
  }
  for (const auto& [key, value] : {std::pair{"all_reduce_seconds", c.all_reduce_seconds},
                                   std::pair{"grant_seconds", c.grant_seconds},
                                   std::pair{"metrics_seconds", c.metrics_seconds},
                                   std::pair{"checkpoint_seconds", c.checkpoint_seconds},
                                   std::pair{"evaluate_seconds", c.evaluate_seconds}}) {
    if (!(value >= 1e-3)) problems.push_back(std::string(key) + ": must be at least 0.001");
  }
  return problems;
}

}  // namespace pacml::learner

#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "apps/evaluation/held_out.h"

namespace pacml::apps {

// How well the policies of a run have done on held-out episodes, and which was the best by the
// task's objective. Thread-confined.
class PolicyScores {
 public:
  // As HeldOutEvaluator; no episodes: nothing is ever evaluated.
  PolicyScores(env::TaskPtr task, const model::NetworkShape& shape, Seed run, std::int64_t episodes)
      : evaluator_(std::move(task), shape, run, episodes), episodes_(episodes) {}

  enum class Outcome {
    kNone,     // not evaluated, or not to the end: nothing is known of the policy
    kUnsound,  // it says nothing that can be acted upon
    kNotBest,
    kBest,
  };
  // Before the first policy it finds out what the baselines do. `goes_on`: as
  // HeldOutEvaluator's.
  [[nodiscard]] Outcome score(const model::Parameters& policy,
                              const std::function<bool()>& goes_on);

  [[nodiscard]] const std::optional<double>& best() const { return best_; }
  // Goes on from a checkpoint.
  void restore(std::optional<double> best) { best_ = best; }
  // As "evaluation" in metrics.jsonl: the objective's name, and which way it is better; its values
  // for the newest policy and for the best one, for the best baseline and, as "baselines", for all
  // of them, the best first; the newest policy's other metrics by name.
  [[nodiscard]] nlohmann::json json() const;

 private:
  HeldOutEvaluator evaluator_;
  std::int64_t episodes_;
  std::optional<std::vector<double>> last_;  // every metric
  std::optional<double> best_;
  std::optional<std::vector<HeldOutEvaluator::ScoredBaseline>> baselines_;
};

}  // namespace pacml::apps

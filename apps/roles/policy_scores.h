#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "apps/evaluation/held_out.h"

namespace pacml::apps {

// How well the policies of a run have done on held-out episodes, and which was the best: the one
// with the lowest blocking rate. Thread-confined.
class PolicyScores {
 public:
  // As HeldOutEvaluator; no episodes: nothing is ever evaluated.
  PolicyScores(const env::PartitioningConfig& config, const std::vector<env::Profile>& profiles,
               const model::NetworkShape& shape, Seed run, std::int64_t episodes)
      : evaluator_(config, profiles, shape, run, episodes), episodes_(episodes) {}

  enum class Outcome {
    kNone,     // not evaluated, or not to the end: nothing is known of the policy
    kUnsound,  // it says nothing that can be acted upon
    kNotBest,
    kBest,
  };
  // `goes_on`: as HeldOutEvaluator's.
  [[nodiscard]] Outcome score(const model::Parameters& policy,
                              const std::function<bool()>& goes_on);

  [[nodiscard]] const std::optional<double>& best() const { return best_; }
  // Goes on from a checkpoint.
  void restore(std::optional<double> best) { best_ = best; }
  // As in metrics.jsonl.
  [[nodiscard]] nlohmann::json json() const;

 private:
  HeldOutEvaluator evaluator_;
  std::int64_t episodes_;
  std::optional<double> last_;
  std::optional<double> best_;
};

}  // namespace pacml::apps

#include "apps/roles/policy_scores.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace pacml::apps {

PolicyScores::Outcome PolicyScores::score(const model::Parameters& policy,
                                          const std::function<bool()>& goes_on) {
  if (episodes_ == 0) return Outcome::kNone;
  bool goes_on_still = true;
  const auto score = evaluator_.blocking_rate(policy, [&] {
    goes_on_still = goes_on();
    return goes_on_still;
  });
  if (!goes_on_still) return Outcome::kNone;
  last_ = score;
  if (!last_) return Outcome::kUnsound;
  if (!std::isfinite(*last_) || (best_ && *last_ >= *best_)) return Outcome::kNotBest;
  best_ = last_;
  return Outcome::kBest;
}

nlohmann::json PolicyScores::json() const {
  const auto or_null = [](const std::optional<double>& score) {
    return score ? nlohmann::json(*score) : nlohmann::json();
  };
  return {{"blocking_rate", or_null(last_)}, {"best_blocking_rate", or_null(best_)}};
}

}  // namespace pacml::apps

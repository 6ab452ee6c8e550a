#include "apps/roles/policy_scores.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace pacml::apps {

PolicyScores::Outcome PolicyScores::score(const model::Parameters& policy,
                                          const std::function<bool()>& goes_on) {
  if (episodes_ == 0) return Outcome::kNone;
  if (!baselines_) baselines_ = evaluator_.score_baselines(goes_on);
  bool goes_on_still = true;
  auto score = evaluator_.score(policy, [&] {
    goes_on_still = goes_on();
    return goes_on_still;
  });
  if (!goes_on_still) return Outcome::kNone;
  last_ = std::move(score);
  if (!last_) return Outcome::kUnsound;
  const double value = last_->front();
  const auto& objective = evaluator_.spec().objective();
  if (!std::isfinite(value) || (best_ && !objective.is_better(value, *best_))) {
    return Outcome::kNotBest;
  }
  best_ = value;
  return Outcome::kBest;
}

nlohmann::json PolicyScores::json() const {
  const auto or_null = [](const std::optional<double>& score) {
    return score ? nlohmann::json(*score) : nlohmann::json();
  };
  const auto& metrics = evaluator_.spec().metrics;
  nlohmann::json out = {
      {"objective", metrics.front().name},
      {"better", metrics.front().better == env::Better::kHigher ? "higher" : "lower"},
      {"score", last_ ? nlohmann::json(last_->front()) : nlohmann::json()},
      {"best", or_null(best_)},
      {"metrics", nlohmann::json::object()}};
  for (std::size_t m = 0; last_ && m < metrics.size(); ++m) {
    out["metrics"][metrics[m].name] = (*last_)[m];  // NaN is dumped as null
  }
  if (!baselines_ || baselines_->empty()) return out;
  out["baselines"] = nlohmann::json::array();
  for (const auto& [name, score] : *baselines_) {
    out["baselines"].push_back({{"name", name}, {"score", score}});
  }
  out["baseline"] = out["baselines"].front();
  return out;
}

}  // namespace pacml::apps

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace pacml::apps {

// What the evaluations of a training have come to, as a line of its metrics tells it; what the line
// does not say is absent. Value type.
struct EvaluationFigures {
  std::string objective;  // what policies are compared by
  bool higher_is_better = false;
  std::optional<double> best;            // of the run's policies
  std::string baseline;                  // that does best
  std::optional<double> baseline_score;  // on the same episodes
  // By how much the best policy is better than that baseline, of its score; negative: worse.
  [[nodiscard]] std::optional<double> gain() const;
};

// Pure.
[[nodiscard]] EvaluationFigures evaluation_of(const nlohmann::json& line);

// "15 % better than constant:4"; empty where there is nothing to say. Pure.
[[nodiscard]] std::string gain_text(const EvaluationFigures& figures);

}  // namespace pacml::apps

#include "apps/run/evaluation_figures.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/run/progress_text.h"
#include "common/json_at.h"

namespace pacml::apps {

std::optional<double> EvaluationFigures::gain() const {
  if (!best || !baseline_score || *baseline_score == 0) return std::nullopt;
  const double change = (*best - *baseline_score) / std::abs(*baseline_score);
  return higher_is_better ? change : -change;
}

EvaluationFigures evaluation_of(const nlohmann::json& line) {
  EvaluationFigures figures;
  figures.objective = text_at(line, "/evaluation/objective");
  figures.higher_is_better = text_at(line, "/evaluation/better") == "higher";
  figures.best = number_at(line, "/evaluation/best");
  figures.baseline = text_at(line, "/evaluation/baseline/name");
  figures.baseline_score = number_at(line, "/evaluation/baseline/score");
  return figures;
}

std::string gain_text(const EvaluationFigures& figures) {
  const auto gain = figures.gain();
  if (!gain) return {};
  if (*gain == 0) return "no better than " + figures.baseline;
  return fixed_text(100 * std::abs(*gain), 0) + " % " + (*gain > 0 ? "better" : "worse") +
         " than " + figures.baseline;
}

}  // namespace pacml::apps

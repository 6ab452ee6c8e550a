#include "apps/run/progress_text.h"

#include <cmath>
#include <cstdio>

namespace pacml::apps {

std::string clock_text(std::chrono::seconds time) {
  const auto total = time.count();
  char text[32];
  if (total >= 3600) {
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", total / 3600, total / 60 % 60, total % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld:%02ld", total / 60, total % 60);
  }
  return text;
}

std::string fixed_text(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string amount_text(double value) {
  if (value < 1e3) return fixed_text(value, 0);
  if (value < 1e6) return fixed_text(value / 1e3, 1) + " k";
  if (value < 1e9) return fixed_text(value / 1e6, 2) + " M";
  return fixed_text(value / 1e9, 2) + " G";
}

std::optional<double> change_from_baseline(const TrainProgress& p) {
  if (!p.best || !p.baseline_score || *p.baseline_score == 0) return std::nullopt;
  return (*p.best - *p.baseline_score) / std::abs(*p.baseline_score);
}

std::string gain_text(const TrainProgress& p) {
  const auto change = change_from_baseline(p);
  if (!change) return {};
  if (*change == 0) return "no better than " + p.baseline;
  const bool is_better = (*change > 0) == p.higher_is_better;
  return fixed_text(100 * std::abs(*change), 0) + " % " + (is_better ? "better" : "worse") +
         " than " + p.baseline;
}

}  // namespace pacml::apps

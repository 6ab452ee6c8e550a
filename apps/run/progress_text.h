#pragma once

#include <chrono>
#include <string>

#include "apps/run/train_progress.h"

// Figures of progress as people read them. Pure.

namespace pacml::apps {

// "1:23", "1:02:03".
[[nodiscard]] std::string clock_text(std::chrono::seconds time);
// "0.231".
[[nodiscard]] std::string fixed_text(double value, int decimals);
// Three significant digits or so: "950", "41.2 k", "3.21 M".
[[nodiscard]] std::string amount_text(double value);
// By how much the best policy is above the best baseline, as a share of its score; nullopt: one of
// them is not known, or the score is 0.
[[nodiscard]] std::optional<double> change_from_baseline(const TrainProgress& progress);
// "15 % better than constant:4"; empty where there is nothing to say.
[[nodiscard]] std::string gain_text(const TrainProgress& progress);

}  // namespace pacml::apps

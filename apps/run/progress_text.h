#pragma once

#include <chrono>
#include <string>

// Figures as people read them. Pure.

namespace pacml::apps {

// "1:23", "1:02:03".
[[nodiscard]] std::string clock_text(std::chrono::seconds time);
// "0.231".
[[nodiscard]] std::string fixed_text(double value, int decimals);
// Three significant digits or so: "950", "41.2 k", "3.21 M".
[[nodiscard]] std::string amount_text(double value);

}  // namespace pacml::apps

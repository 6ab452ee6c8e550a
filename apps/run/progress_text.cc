#include "apps/run/progress_text.h"

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

}  // namespace pacml::apps

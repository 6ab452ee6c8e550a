#include "common/transport/patience_config.h"

#include <string_view>

namespace pacml::transport {

std::vector<std::string> validate(const PatienceConfig& c) {
  constexpr double kShortest = 0.001;
  constexpr double kLongest = 1e6;
  std::vector<std::string> problems;
  visit_fields(c, [&](std::string_view key, Seconds seconds) {
    const bool may_be_none = key == "weights_seconds" || key == "farewell_seconds";
    const double least = may_be_none ? 0 : kShortest;
    if (seconds >= least && seconds <= kLongest) return;
    problems.push_back(std::string(key) + ": must be in " + (may_be_none ? "0" : "0.001") +
                       "..1e6");
  });
  return problems;
}

}  // namespace pacml::transport

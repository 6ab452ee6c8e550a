#include "apps/run/supervision_config.h"

namespace pacml::apps {

std::vector<std::string> validate(const SupervisionConfig& config) {
  std::vector<std::string> problems;
  const auto within = [](Seconds value, double low) {
    return value.count() >= low && value.count() <= 1e6;
  };
  if (!within(config.stop_seconds, 1)) problems.emplace_back("stop_seconds: must be in 1..1e6");
  if (config.silence_seconds.count() != 0 && !within(config.silence_seconds, 5)) {
    problems.emplace_back("silence_seconds: must be in 5..1e6, or 0");
  }
  return problems;
}

}  // namespace pacml::apps

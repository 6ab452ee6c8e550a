#include "learner/schedule.h"

#include <algorithm>

namespace pacml::learner {

std::vector<std::string> validate(const ScheduleConfig& config) {
  std::vector<std::string> problems;
  if (!(config.start >= 0)) {
    problems.push_back("start must be at least 0, not " + std::to_string(config.start));
  }
  if (!(config.end >= 0)) {
    problems.push_back("end must be at least 0, not " + std::to_string(config.end));
  }
  if (config.decisions <= 0) {
    problems.push_back("decisions must be greater than 0, not " + std::to_string(config.decisions));
  }
  return problems;
}

double value_at(const ScheduleConfig& schedule, std::int64_t decisions) {
  if (schedule.kind == ScheduleKind::kConstant) return schedule.start;
  const double done = std::clamp(
      static_cast<double>(decisions) / static_cast<double>(schedule.decisions), 0.0, 1.0);
  return schedule.start + done * (schedule.end - schedule.start);
}

}  // namespace pacml::learner

#include "learner/schedule.h"

#include <algorithm>
#include <utility>

#include "common/spell_number.h"

namespace pacml::learner {

std::vector<std::string> validate(const ScheduleConfig& config) {
  std::vector<std::string> problems;
  if (!(config.start >= 0)) {
    problems.push_back("start must be at least 0, not " + spell_number(config.start));
  }
  if (!(config.end >= 0)) {
    problems.push_back("end must be at least 0, not " + spell_number(config.end));
  }
  if (config.decisions <= 0) {
    problems.push_back("decisions must be greater than 0, not " + std::to_string(config.decisions));
  }
  return problems;
}

std::vector<std::string> validate_range(const ScheduleConfig& config, const std::string& key,
                                        double most) {
  std::vector<std::string> problems;
  for (const auto& [name, value] : {std::pair{".start", config.start}, {".end", config.end}}) {
    if (!(value > most)) continue;  // what is no number, or below 0, is said by validate()
    problems.push_back(key + name + " must be at most " + spell_number(most) + ", not " +
                       spell_number(value));
  }
  return problems;
}

RunPosition RunPosition::after(double done) const {
  return {done + (1 - done) * share, (1 - done) * decisions};
}

double RunPosition::share_of(std::int64_t schedule_decisions) const {
  return std::clamp(share + decisions / static_cast<double>(schedule_decisions), 0.0, 1.0);
}

double share_done(const ScheduleConfig& schedule, const LearningProgress& progress) {
  const RunPosition position = schedule.over == ScheduleSpan::kRun
                                   ? progress.run
                                   : RunPosition{0, static_cast<double>(progress.decisions)};
  return position.share_of(schedule.decisions);
}

double value_at(const ScheduleConfig& schedule, const LearningProgress& progress) {
  if (schedule.kind == ScheduleKind::kConstant) return schedule.start;
  return schedule.start + share_done(schedule, progress) * (schedule.end - schedule.start);
}

}  // namespace pacml::learner

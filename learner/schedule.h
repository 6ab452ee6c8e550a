#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"

namespace pacml::learner {

enum class ScheduleKind { kConstant, kLinear };

constexpr auto enum_names(ScheduleKind) {
  return std::to_array<EnumName<ScheduleKind>>(
      {{"constant", ScheduleKind::kConstant}, {"linear", ScheduleKind::kLinear}});
}

// A number that changes with the decisions learned from. Linear: from `start` to `end` over
// `decisions`, then `end`.
struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kConstant;
  double start = 0;
  double end = 0;                       // linear only
  std::int64_t decisions = 10'000'000;  // linear only; > 0
  bool operator==(const ScheduleConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ScheduleConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("kind", c.kind);
  v("start", c.start);
  v("end", c.end);
  v("decisions", c.decisions);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const ScheduleConfig& config);
// The same of a schedule that is the member `key`, whose values must not be greater than `most`.
[[nodiscard]] std::vector<std::string> validate_range(const ScheduleConfig& config,
                                                      const std::string& key, double most);

// Steps of the optimisers are about as long as this, in the unit of weights that begin around 0.1.
inline constexpr double kGreatestLearningRate = 1e3;

// The value after `decisions` of them. Pure, so a schedule's position is the decision counter.
[[nodiscard]] double value_at(const ScheduleConfig& schedule, std::int64_t decisions);

}  // namespace pacml::learner

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

enum class ScheduleSpan { kDecisions, kRun };

constexpr auto enum_names(ScheduleSpan) {
  return std::to_array<EnumName<ScheduleSpan>>(
      {{"decisions", ScheduleSpan::kDecisions}, {"run", ScheduleSpan::kRun}});
}

// A number that changes as learning goes on. Linear: from `start` to `end` over so many `decisions`
// learned from, then `end`; or over the whole run, however fast the machine is, where that has an
// end (--minutes, --decisions).
struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kConstant;
  double start = 0;
  double end = 0;                                // linear only, as is what follows
  ScheduleSpan over = ScheduleSpan::kDecisions;  // run: `decisions` count where it has no end
  std::int64_t decisions = 10'000'000;           // > 0
  bool operator==(const ScheduleConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ScheduleConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("kind", c.kind);
  v("start", c.start);
  v("end", c.end);
  v("over", c.over);
  v("decisions", c.decisions);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const ScheduleConfig& config);
// The same of a schedule that is the member `key`, whose values must not be greater than `most`.
[[nodiscard]] std::vector<std::string> validate_range(const ScheduleConfig& config,
                                                      const std::string& key, double most);

// Steps of the optimisers are about as long as this, in the unit of weights that begin around 0.1.
inline constexpr double kGreatestLearningRate = 1e3;

// How far a run is on the way of its schedules. Processes go on with it one after the other: one
// whose end is known covers a share of the way that is left, one without an end covers decisions of
// those that a schedule names. Both are lines in 1 / those, and so is all that they come to.
struct RunPosition {
  double share = 0;      // of the way, at least 0
  double decisions = 0;  // beside it, of a schedule's; at least 0
  // Once `done` [0, 1] of the way that is left is over.
  [[nodiscard]] RunPosition after(double done) const;
  // The share of its way that a schedule over so many decisions has behind it, in [0, 1].
  [[nodiscard]] double share_of(std::int64_t schedule_decisions) const;
};

// How far learning is.
struct LearningProgress {
  std::int64_t decisions = 0;  // learned from
  RunPosition run = {};
};

// The share of its way that a linear schedule has behind it, in [0, 1]. Pure.
[[nodiscard]] double share_done(const ScheduleConfig& schedule, const LearningProgress& progress);
// Pure.
[[nodiscard]] double value_at(const ScheduleConfig& schedule, const LearningProgress& progress);

}  // namespace pacml::learner

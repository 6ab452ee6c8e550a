#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "env/gpu_cluster/gpu_scheduler.h"
#include "env/gpu_cluster/place_by_rule.h"

namespace pacml::env {

// Which job is next.
enum class ScheduleOrder {
  kFifo,
  kSrtf,    // shortest remaining time alone
  kSrsf,    // ... times GPUs
  kDrf,     // the first job of the user who holds the fewest GPUs (dominant resource fairness)
  kTetris,  // the best of alignment and shortness (Grandl et al., SIGCOMM 2014)
  kAgent,   // each scheduler draws one of its actions: wait, forward, place
};
constexpr auto enum_names(ScheduleOrder /*unused*/) {
  return std::to_array<EnumName<ScheduleOrder>>({{"fifo", ScheduleOrder::kFifo},
                                                 {"srtf", ScheduleOrder::kSrtf},
                                                 {"srsf", ScheduleOrder::kSrsf},
                                                 {"drf", ScheduleOrder::kDrf},
                                                 {"tetris", ScheduleOrder::kTetris},
                                                 {"agent", ScheduleOrder::kAgent}});
}

struct GpuRulesConfig {
  ScheduleOrder order = ScheduleOrder::kFifo;
  PlacementRule place = PlacementRule::kFirstFit;
  bool strict = true;     // the first job that cannot start blocks those behind it
  int window = 0;         // so many jobs at the head of the line are tried; 0: all
  double max_cost = 1e6;  // of the last two rules: a job waits rather than cost more
  double eps = 1;         // weight of shortness in `order: tetris`
  bool preempt = false;   // the order is of all jobs; who is behind gives its GPUs back
  std::uint64_t seed = 0;
  CandidateRules candidates = {};
  bool operator==(const GpuRulesConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, GpuRulesConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("order", c.order);
  v("place", c.place);
  v("strict", c.strict);
  v("window", c.window);
  v("max_cost", c.max_cost);
  v("eps", c.eps);
  v("preempt", c.preempt);
  v("seed", c.seed);
  v("candidates", c.candidates);
}
[[nodiscard]] std::vector<std::string> validate(const GpuRulesConfig& c);

// A scheduler by rules: an order of jobs, a rule for their place, and when they share. It serves
// one state from its beginning, since it remembers who found no room in it. UserError with the
// first problem of validate(config).
[[nodiscard]] std::unique_ptr<GpuScheduler> make_rule_scheduler(const GpuRulesConfig& config);

}  // namespace pacml::env

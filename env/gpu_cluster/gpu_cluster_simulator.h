#pragma once

#include <cstddef>
#include <functional>
#include <limits>

#include "env/gpu_cluster/gpu_cluster_state.h"
#include "env/gpu_cluster/gpu_scheduler.h"

namespace pacml::env {

// Lets time pass for the jobs of a list: they arrive and end, and in between are instants at which
// decisions are taken. What happens at one time happens in this order: completions, then thaws,
// each by job; arrivals, by job; decisions. Copies are independent. Thread-confined.
class GpuClusterSimulator {
 public:
  GpuClusterSimulator(GpuClusterModelPtr model, GpuJobListPtr jobs, QueueOrder order);

  // Goes on to the next instant at which decisions are to be taken on state(), or to `until_s` if
  // that is earlier; false: to the end, nothing is left to happen. UserError: more than 10 million
  // rounds in a row at which nothing has happened.
  bool next_instant(double until_s = std::numeric_limits<double>::infinity());
  // The same for who would do nothing at rounds at which nothing has happened since this instant:
  // they pass, one by one until there have been 10 million instants, then all at once.
  bool next_eventful_instant();

  [[nodiscard]] GpuClusterState& state() { return state_; }
  [[nodiscard]] const GpuClusterState& state() const { return state_; }
  // When something happens next, or decisions are to be taken; infinite: never.
  [[nodiscard]] double next_event() const;
  // Whether the current instant is one of the schedule, not only `until_s`.
  [[nodiscard]] bool is_scheduled() const { return is_instant_; }
  [[nodiscard]] bool has_arrivals() const { return next_ < state_.jobs().size(); }
  [[nodiscard]] std::size_t num_arrived() const { return next_; }
  [[nodiscard]] std::int64_t num_events() const { return num_events_; }  // arrivals, completions
  [[nodiscard]] std::int64_t num_instants() const { return num_instants_; }

 private:
  [[nodiscard]] double next_arrival() const;
  [[nodiscard]] double next_round() const;
  [[nodiscard]] int route(std::int32_t job) const;
  void plan_instant();
  void complete_and_thaw();
  void bring_arrivals();

  GpuClusterState state_;
  std::size_t next_ = 0;  // in the order of arrival
  double instant_s_ = std::numeric_limits<double>::infinity();
  bool is_instant_ = false;
  std::int64_t num_events_ = 0;
  std::int64_t num_instants_ = 0;
  std::int64_t seen_events_ = 0;  // until the last instant
  std::int64_t idle_rounds_ = 0;  // in a row, the last instants
};

// Runs to the end with a scheduler; ends early where the scheduler has done nothing, and nothing
// will happen that could change its mind. `before_instant` (may be null) is called before each of
// its decisions. UserError: with rounds, an agent has a job that is larger than every partition.
void run_schedule(GpuClusterSimulator& simulator, GpuScheduler& scheduler,
                  const std::function<void(const GpuClusterState&)>& before_instant = nullptr);

}  // namespace pacml::env

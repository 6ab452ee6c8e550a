#include "env/gpu_cluster/gpu_cluster_simulator.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "common/result.h"
#include "env/numerics.h"

namespace pacml::env {
namespace {

constexpr std::int64_t kManyRounds = 10'000'000;

// A job that a random agent could never place would be looked at for ever.
void check_sizes(const GpuClusterState& state) {
  const GpuClusterModel& model = state.model();
  std::int32_t largest = 0;
  for (int p = 0; p < model.config().partitions; ++p) {
    largest = std::max(largest, model.num_gpus(p));
  }
  for (std::size_t id = 0; id < state.jobs().size(); ++id) {
    const std::int32_t gpus = state.jobs()[static_cast<std::int32_t>(id)].gpus;
    if (gpus <= largest) continue;
    throw UserError("job " + std::to_string(id) + ": it wants " + std::to_string(gpus) +
                    " GPUs, the largest partition has " + std::to_string(largest));
  }
}

}  // namespace

GpuClusterSimulator::GpuClusterSimulator(GpuClusterModelPtr model, GpuJobListPtr jobs,
                                         QueueOrder order)
    : state_(std::move(model), std::move(jobs), order) {
  state_.jump(next_arrival());
}

double GpuClusterSimulator::next_arrival() const {
  if (!has_arrivals()) return kEndOfTime;
  return state_.jobs()[state_.jobs().arrivals()[next_]].submit_s;
}

int GpuClusterSimulator::route(std::int32_t job) const {
  const GpuClusterModel& model = state_.model();
  const int partitions = model.config().partitions;
  if (model.config().route == JobRoute::kHome) return state_.jobs()[job].number % partitions;
  const auto load = [&](int p) {
    return rounded_score(static_cast<double>(state_.gpus_wanted(p)) /
                         (model.first_server(p + 1) - model.first_server(p)));
  };
  int least = 0;
  for (int p = 1; p < partitions; ++p) {
    if (load(p) < load(least)) least = p;
  }
  return least;
}

// Something has happened: now, or at the end of the round.
void GpuClusterSimulator::plan_instant() {
  const double round = state_.model().config().round_s;
  const double now = state_.now();
  instant_s_ =
      std::min(instant_s_, round > 0 ? std::max(now, std::ceil(now / round) * round) : now);
}

void GpuClusterSimulator::complete_and_thaw() {
  const double now = state_.now();
  while (true) {
    if (state_.next_completion() == now) {
      ++num_events_;
      state_.finish(state_.first_to_complete());
      plan_instant();
    } else if (state_.next_thaw() == now) {
      if (const std::int32_t job = state_.take_thaw(); job >= 0) state_.thaw(job);
    } else {
      return;
    }
  }
}

void GpuClusterSimulator::bring_arrivals() {
  while (next_arrival() == state_.now()) {
    ++num_events_;
    const std::int32_t job = state_.jobs().arrivals()[next_++];
    state_.arrive(job, route(job));
    plan_instant();
  }
}

// With rounds, jobs that wait are looked at again at the end of the one after an instant.
double GpuClusterSimulator::next_round() const {
  const double round = state_.model().config().round_s;
  if (!is_instant_ || round <= 0 || state_.num_waiting() == 0) return instant_s_;
  return (std::ceil(state_.now() / round) + 1) * round;
}

double GpuClusterSimulator::next_event() const {
  return std::min({state_.next_completion(), state_.next_thaw(), next_arrival(), next_round()});
}

bool GpuClusterSimulator::next_instant(double until_s) {
  instant_s_ = next_round();
  is_instant_ = false;
  while (true) {
    const double time = std::min(next_event(), until_s);
    if (time == kEndOfTime) return false;
    state_.advance(time);
    complete_and_thaw();
    bring_arrivals();
    if (instant_s_ == time) {
      instant_s_ = kEndOfTime;
      is_instant_ = true;
      ++num_instants_;
      idle_rounds_ = num_events_ == seen_events_ ? idle_rounds_ + 1 : 0;
      seen_events_ = num_events_;
      if (idle_rounds_ > kManyRounds) {
        throw UserError(
            "more than 10 million rounds in a row at which nothing has happened; "
            "longer ones would do");
      }
    }
    if (is_instant_ || time == until_s) return true;
  }
}

bool GpuClusterSimulator::next_eventful_instant() {
  const std::int64_t before = num_events_;
  do {
    // From here on rounds come about by what happens alone.
    if (num_instants_ >= kManyRounds) is_instant_ = false;
    if (!next_instant()) return false;
  } while (num_events_ == before);
  return true;
}

void run_schedule(GpuClusterSimulator& simulator, GpuScheduler& scheduler,
                  const std::function<void(const GpuClusterState&)>& before_instant) {
  GpuClusterState& state = simulator.state();
  const bool has_rounds = state.model().config().round_s > 0;
  if (has_rounds && scheduler.may_change_its_mind()) check_sizes(state);
  while (simulator.next_instant()) {
    if (before_instant) before_instant(state);
    const std::int64_t placed = state.num_placements();
    scheduler.decide(state);
    const bool is_stuck = state.num_placements() == placed && state.running().empty() &&
                          !simulator.has_arrivals() && !scheduler.may_change_its_mind();
    if (is_stuck) return;
  }
}

}  // namespace pacml::env

#include "env/gpu_cluster/gpu_lockstep.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/result.h"

namespace pacml::env {
namespace {

constexpr int kMostFailures = 5;
constexpr std::int64_t kMostRounds = 10'000'000;

class Lockstep {
 public:
  Lockstep(GpuClusterState& state, GpuScheduler& scheduler, const LockstepConfig& config)
      : state_(state), scheduler_(scheduler), config_(config), failures_(state.jobs().size()) {}

  std::int64_t run() {
    state_.jump(submit_of_next());
    while (true) {
      bring_arrivals();
      pass();
      if (!state_.running().empty()) {
        if (++rounds_ > kMostRounds) {
          throw UserError("more than 10 million rounds; longer ones would do");
        }
        play_round();
      } else if (has_arrivals()) {
        state_.jump(submit_of_next());
      } else if (is_dirty_ && last_pass_ != 0) {
        last_pass_ = 0;  // at once
      } else {
        return rounds_;
      }
    }
  }

 private:
  struct Ended {
    std::int32_t job;
    double finish;
  };

  [[nodiscard]] bool has_arrivals() const { return next_ < state_.jobs().size(); }
  [[nodiscard]] double submit_of_next() const {
    return state_.jobs()[state_.jobs().arrivals()[next_]].submit_s;
  }

  void bring_arrivals() {
    while (has_arrivals() && submit_of_next() <= state_.now()) {
      state_.arrive(state_.jobs().arrivals()[next_++], 0);
      is_dirty_ = true;
    }
  }

  void pass() {
    if (!is_dirty_ || (state_.now() - last_pass_ < config_.reset_s && last_pass_ != 0)) return;
    last_pass_ = state_.now();
    is_dirty_ = false;
    scheduler_.decide(state_);
  }

  void play_round() {
    double end = 0;
    ended_.clear();
    for (const std::int32_t job : state_.running()) {
      const GpuJobShape& shape =
          state_.model().speeds().shapes()[static_cast<std::size_t>(state_.jobs()[job].shape)];
      const double rate = shape.together.front();
      const double left = state_.progress(job).left;
      const double steps = std::min(std::floor(rate * config_.round_s), std::trunc(left));
      const double finish = state_.now() + steps / rate;
      end = std::max(end, finish);
      int& failures = failures_[static_cast<std::size_t>(job)];
      if (steps < state_.jobs()[job].gpus) {
        is_dirty_ = true;
        if (++failures == kMostFailures) ended_.push_back({job, GpuJobProgress::kNever});
      } else {
        failures = 0;
        state_.set_left(job, left - steps);
        if (left == steps) ended_.push_back({job, finish});
      }
    }
    state_.jump(end);
    for (const Ended& ended : ended_) {
      is_dirty_ = true;
      state_.end(ended.job, ended.finish);
    }
  }

  GpuClusterState& state_;
  GpuScheduler& scheduler_;
  LockstepConfig config_;
  std::vector<int> failures_;  // [jobs], in a row
  std::vector<Ended> ended_;
  std::size_t next_ = 0;
  double last_pass_ = 0;
  bool is_dirty_ = false;  // something arrived, ended or failed since then
  std::int64_t rounds_ = 0;
};

}  // namespace

std::int64_t run_lockstep(GpuClusterState& state, GpuScheduler& scheduler,
                          const LockstepConfig& config) {
  if (!(config.round_s >= 1e-3 && config.round_s <= kMostSeconds)) {
    throw UserError("lockstep: rounds must be of 1e-3..1e12 s");
  }
  if (!(config.reset_s >= 0 && config.reset_s <= kMostSeconds)) {
    throw UserError("reset: must be in 0..1e12 s");
  }
  return Lockstep(state, scheduler, config).run();
}

}  // namespace pacml::env

#include "env/gpu_cluster/gpu_replay.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "common/result.h"
#include "env/numerics.h"

namespace pacml::env {
namespace {

class Replay {
 public:
  Replay(GpuClusterSimulator& simulator, const std::vector<GpuDecision>& decisions,
         const CandidateRules& rules, bool preempts)
      : simulator_(simulator),
        state_(simulator.state()),
        decisions_(decisions),
        finder_(rules),
        is_for_all_(preempts || std::ranges::find(decisions, GpuDecision::Kind::kPreempted,
                                                  &GpuDecision::kind) != decisions.end()) {
    for (std::size_t i = 1; i < decisions.size(); ++i) {
      if (decisions[i].time_s < decisions[i - 1].time_s) {
        throw UserError("decision " + std::to_string(i) + " is earlier than the one before");
      }
    }
  }

  void run(const std::function<void(const GpuClusterState&)>& before_instant) {
    while (simulator_.next_instant(stop_s())) {
      if (before_instant && simulator_.is_scheduled()) before_instant(state_);
      while (is_due()) take();
      // Nothing waits for anything but rounds that nobody uses.
      if (is_at_end() && state_.running().empty() && !simulator_.has_arrivals()) return;
    }
    if (!is_at_end()) refuse("nothing arrives or ends any more by then");
  }

 private:
  [[nodiscard]] bool is_at_end() const { return next_ == decisions_.size(); }
  [[nodiscard]] const GpuDecision& current() const { return decisions_[next_]; }
  [[nodiscard]] static bool is_same(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
  }

  // Where to stop for a decision: where something happens, if that is then.
  [[nodiscard]] double stop_s() const {
    if (is_at_end()) return kEndOfTime;
    const double time = std::max(current().time_s, state_.now());
    const double event = simulator_.next_event();
    return std::isfinite(event) && is_same(time, event) ? event : time;
  }

  [[nodiscard]] bool is_due() const {
    if (is_at_end()) return false;
    if (current().time_s <= state_.now()) return true;
    return is_same(current().time_s, state_.now()) && simulator_.next_event() > current().time_s;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError("decision " + std::to_string(next_) + ", on job " +
                    std::to_string(current().job) + ": " + why);
  }

  void take() {
    const GpuDecision& decision = current();
    if (decision.job < 0 || static_cast<std::size_t>(decision.job) >= state_.jobs().size()) {
      refuse("there is no such job");
    }
    if (!is_same(decision.time_s, state_.now())) refuse("its time is before the first arrival");
    const GpuJobStatus status = state_.progress(decision.job).status;
    if (decision.kind == GpuDecision::Kind::kPreempted) {
      if (status != GpuJobStatus::kRunning) refuse("it does not run then");
      state_.preempt(decision.job);
    } else {
      if (status != GpuJobStatus::kWaiting) refuse("it does not wait then");
      decision.kind == GpuDecision::Kind::kActed ? act(decision) : place(decision);
    }
    ++next_;
  }

  void act(const GpuDecision& decision) {
    const int partition = state_.progress(decision.job).partition;
    if (decision.scheduler != partition) {
      refuse("it waits for scheduler " + std::to_string(partition));
    }
    finder_.find(state_, decision.job, partition, candidates_);
    const bool may_forward = state_.progress(decision.job).forwarded != state_.now();
    const std::int64_t others = may_forward ? state_.model().config().partitions - 1 : 0;
    const std::int64_t total = 1 + others + static_cast<std::int64_t>(candidates_.size());
    if (decision.action < 0 || decision.action >= total) {
      refuse("there are only " + std::to_string(total) + " actions");
    }
    GpuDecision recorded = decision;
    recorded.time_s = state_.now();
    recorded.num_actions = total;
    state_.record(std::move(recorded));
    if (decision.action == 0) return;
    if (decision.action <= others) {
      const int other = static_cast<int>(decision.action) - 1;
      state_.forward(decision.job, other < partition ? other : other + 1);
      return;
    }
    const auto chosen = finder_.gpus(state_, decision.job, candidates_,
                                     static_cast<std::size_t>(decision.action - 1 - others));
    const std::vector<std::int32_t> gpus(chosen.begin(), chosen.end());
    state_.place(decision.job, gpus);
    if (next_ + 1 == decisions_.size()) return;
    const GpuDecision& behind = decisions_[next_ + 1];
    if (behind.kind != GpuDecision::Kind::kPlaced || behind.job != decision.job ||
        !is_same(behind.time_s, decision.time_s)) {
      return;
    }
    ++next_;
    if (sorted(behind.gpus) != gpus) refuse("it is placed elsewhere than its action says");
  }

  static std::vector<std::int32_t> sorted(std::vector<std::int32_t> gpus) {
    std::ranges::sort(gpus);
    return gpus;
  }

  void place(const GpuDecision& decision) {
    const GpuTopology& t = state_.topology();
    const JobSpeeds& speeds = state_.model().speeds();
    const GpuJob& job = state_.jobs()[decision.job];
    const int partition = state_.progress(decision.job).partition;
    const std::vector<std::int32_t> gpus = sorted(decision.gpus);
    if (gpus.size() != static_cast<std::size_t>(job.gpus)) {
      refuse("it wants " + std::to_string(job.gpus) + " GPUs");
    }
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const std::int32_t g = gpus[i];
      const std::string name = "GPU " + std::to_string(g);
      if (g < 0 || g >= t.num_gpus()) refuse(name + " is not there");
      if (i > 0 && gpus[i - 1] == g) refuse(name + " is named twice");
      const int owner = state_.model().partition_of(t.server_of(g));
      if (!is_for_all_ && owner != partition) {
        refuse(name + " is scheduler " + std::to_string(owner) + "'s, and it waits for scheduler " +
               std::to_string(partition));
      }
      const std::int32_t other = state_.resident(g, 0);
      if (other < 0) continue;
      if (state_.resident(g, 1) >= 0 || state_.model().config().share < 2) {
        refuse(name + " has no room then");
      }
      const std::int32_t gpu_type = t.gpu_type_of(t.server_of(g));
      const std::int32_t type = state_.jobs()[other].type;
      if (speeds.pair(gpu_type, job.type, type) == 0 ||
          speeds.pair(gpu_type, type, job.type) == 0) {
        refuse("it does not fit beside job " + std::to_string(other) + " on " + name);
      }
    }
    state_.place(decision.job, gpus);
  }

  GpuClusterSimulator& simulator_;
  GpuClusterState& state_;
  const std::vector<GpuDecision>& decisions_;
  CandidateFinder finder_;
  bool is_for_all_;  // one decides for all schedulers
  GpuCandidates candidates_;
  std::size_t next_ = 0;
};

}  // namespace

void run_decisions(GpuClusterSimulator& simulator, const std::vector<GpuDecision>& decisions,
                   const CandidateRules& rules,
                   const std::function<void(const GpuClusterState&)>& before_instant,
                   bool preempts) {
  Replay(simulator, decisions, rules, preempts).run(before_instant);
}

}  // namespace pacml::env

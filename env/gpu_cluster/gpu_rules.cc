#include "env/gpu_cluster/gpu_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/result.h"

namespace pacml::env {
namespace {

class RuleScheduler final : public GpuScheduler {
 public:
  explicit RuleScheduler(const GpuRulesConfig& rules)
      : rules_(rules),
        place_({rules.place, rules.max_cost, rules.candidates}, rules.seed),
        finder_(rules.candidates),
        random_(rules.seed) {}

  [[nodiscard]] QueueOrder queue_order() const override {
    if (rules_.order == ScheduleOrder::kSrtf) return QueueOrder::kSrtf;
    if (rules_.order == ScheduleOrder::kSrsf) return QueueOrder::kSrsf;
    return QueueOrder::kFifo;
  }

  [[nodiscard]] bool may_change_its_mind() const override {
    return rules_.order == ScheduleOrder::kAgent;
  }

  void decide(GpuClusterState& state) override {
    if (rules_.preempt) {
      decide_preempting(state);
      return;
    }
    for (int p = 0; p < state.model().config().partitions; ++p) {
      if (state.waiting(p).empty()) continue;
      take_window(state, p);
      switch (rules_.order) {
        case ScheduleOrder::kDrf:
          decide_fairly(state, p);
          break;
        case ScheduleOrder::kTetris:
          decide_aligned(state, p);
          break;
        case ScheduleOrder::kAgent:
          decide_at_random(state, p);
          break;
        default:
          decide_in_order(state, p);
      }
    }
  }

 private:
  void take_window(const GpuClusterState& state, int partition) {
    const auto& line = state.waiting(partition);
    const std::size_t n = rules_.window == 0
                              ? line.size()
                              : std::min(line.size(), static_cast<std::size_t>(rules_.window));
    queue_.clear();
    for (std::size_t i = 0; i < n; ++i) queue_.push_back(line[i].job);
  }

  void decide_in_order(GpuClusterState& state, int partition) {
    for (const std::int32_t job : queue_) {
      if (place_.find(state, job, partition, chosen_)) {
        state.place(job, chosen_.gpus);
      } else if (rules_.strict) {
        return;
      }
    }
  }

  // A user whose first job cannot start is left out for this instant.
  void decide_fairly(GpuClusterState& state, int partition) {
    std::map<std::int32_t, std::vector<std::int32_t>> lines;  // by user; the first job last
    for (auto it = queue_.rbegin(); it != queue_.rend(); ++it) {
      lines[state.jobs()[*it].user].push_back(*it);
    }
    while (!lines.empty()) {
      const auto next = std::ranges::min_element(
          lines, {}, [&](const auto& line) { return state.gpus_held(line.first); });
      if (place_.find(state, next->second.back(), partition, chosen_)) {
        state.place(next->second.back(), chosen_.gpus);
        next->second.pop_back();
        if (!next->second.empty()) continue;
      }
      lines.erase(next);
    }
  }

  void decide_aligned(GpuClusterState& state, int partition) {
    while (!queue_.empty()) {
      const auto work = [&](std::int32_t job) {
        return state.alone_s(job) * state.jobs()[job].gpus;
      };
      double longest = 0;
      for (const std::int32_t job : queue_) longest = std::max(longest, work(job));
      std::optional<double> best;
      std::int32_t best_job = -1;
      RulePlace best_choice;
      for (const std::int32_t job : queue_) {
        if (!place_.find(state, job, partition, chosen_)) continue;
        const double aligned = chosen_.kind == GpuCandidate::Kind::kOneServer
                                   ? rule_alignment(state, job, chosen_.key)
                                   : 0.0;
        const double score = rounded_score(aligned + rules_.eps * (1.0 - work(job) / longest));
        if (best && score <= *best) continue;
        best = score;
        best_job = job;
        std::swap(best_choice, chosen_);
      }
      if (!best) return;
      std::erase(queue_, best_job);
      state.place(best_job, best_choice.gpus);
    }
  }

  // A job is forwarded once in an instant: by a later scheduler it is looked at in this one.
  void decide_at_random(GpuClusterState& state, int partition) {
    for (const std::int32_t job : queue_) {
      finder_.find(state, job, partition, candidates_);
      const bool may_forward = state.progress(job).forwarded != state.now();
      const std::uint64_t others = may_forward ? state.model().config().partitions - 1 : 0;
      const std::uint64_t total = 1 + others + candidates_.size();
      const std::uint64_t action = random_.next() % total;
      state.record({.time_s = state.now(),
                    .job = job,
                    .kind = GpuDecision::Kind::kActed,
                    .scheduler = partition,
                    .action = static_cast<std::int64_t>(action),
                    .num_actions = static_cast<std::int64_t>(total)});
      if (action == 0) continue;
      if (action <= others) {
        const int other = static_cast<int>(action) - 1;
        state.forward(job, other < partition ? other : other + 1);
      } else {
        state.place(job, finder_.gpus(state, job, candidates_, action - 1 - others));
      }
    }
  }

  void decide_preempting(GpuClusterState& state) {
    std::vector<GpuClusterState::Waiting> line;
    for (int p = 0; p < state.model().config().partitions; ++p) {
      line.insert(line.end(), state.waiting(p).begin(), state.waiting(p).end());
    }
    for (const std::int32_t job : state.running()) {
      line.push_back({state.queue_score(job), state.jobs()[job].rank, job});
    }
    std::ranges::sort(line);
    std::int64_t room = state.topology().num_gpus();
    queue_.clear();
    for (const auto& entry : line) {
      const std::int32_t gpus = state.jobs()[entry.job].gpus;
      if (gpus > room) continue;
      queue_.push_back(entry.job);
      room -= gpus;
    }
    std::vector<std::int32_t> stay = queue_;
    std::ranges::sort(stay);
    const std::vector<std::int32_t> running(state.running().begin(), state.running().end());
    for (const std::int32_t job : running) {
      if (!std::ranges::binary_search(stay, job)) state.preempt(job);
    }
    for (const std::int32_t job : queue_) {
      if (state.progress(job).status == GpuJobStatus::kRunning) continue;
      if (place_.find(state, job, GpuClusterState::kWholeCluster, chosen_)) {
        state.place(job, chosen_.gpus);
      }
    }
  }

  GpuRulesConfig rules_;
  PlaceByRule place_;
  CandidateFinder finder_;  // of agents
  SplitMix64 random_;       // their draws
  std::vector<std::int32_t> queue_;
  GpuCandidates candidates_;
  RulePlace chosen_;
};

}  // namespace

std::vector<std::string> validate(const GpuRulesConfig& c) {
  std::vector<std::string> problems;
  if (c.window < 0) problems.emplace_back("window: must not be negative");
  if (!(c.max_cost >= 0 && c.max_cost <= 1e18)) {
    problems.emplace_back("max_cost: must be in 0..1e18");
  }
  if (!(c.eps >= 0 && c.eps <= 1e6)) problems.emplace_back("eps: must be in 0..1e6");
  return problems;
}

std::unique_ptr<GpuScheduler> make_rule_scheduler(const GpuRulesConfig& config) {
  if (const auto problems = validate(config); !problems.empty()) throw UserError(problems.front());
  if (const auto problems = validate(config.candidates); !problems.empty()) {
    throw UserError(problems.front());
  }
  return std::make_unique<RuleScheduler>(config);
}

}  // namespace pacml::env

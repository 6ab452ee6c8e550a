#include "env/gpu_cluster/gpu_rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "common/result.h"
#include "common/rng.h"

namespace pacml::env {
namespace {

// Steele, Lea and Flood 2014.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix64(state_ += kGoldenGamma); }

 private:
  std::uint64_t state_;
};

bool counts_disturbance(PlacementRule rule) {
  return rule == PlacementRule::kLeastInterference || rule == PlacementRule::kLeastDelay;
}

// How well a job's wants align with what a server has left, in GPUs and host load.
double alignment(const GpuClusterState& state, std::int32_t job, std::int32_t server) {
  const GpuTopology& t = state.topology();
  const GpuJob& of = state.jobs()[job];
  const std::int32_t sockets = t.config().sockets;
  double load = 0;
  for (std::int32_t s = server * sockets; s < (server + 1) * sockets; ++s) {
    load += state.host_load(s);
  }
  const double cap = state.model().host_capacity() * sockets;
  const auto per_server = static_cast<double>(t.per_server());
  const double need =
      of.gpus * state.model().speeds().shapes()[static_cast<std::size_t>(of.shape)].host_load;
  return of.gpus / per_server * state.idle_in_server(server) / per_server +
         need / cap * std::max(0.0, cap - load) / cap;
}

class RuleScheduler final : public GpuScheduler {
 public:
  explicit RuleScheduler(const GpuRulesConfig& rules)
      : rules_(rules), finder_(rules.candidates), random_(rules.seed) {}

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
  struct Choice {
    GpuCandidate::Kind kind = GpuCandidate::Kind::kOneServer;
    std::int32_t key = 0;
    std::vector<std::int32_t> gpus;
  };

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
      if (choose(state, job, partition, chosen_)) {
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
      if (choose(state, next->second.back(), partition, chosen_)) {
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
        return state.left(job) / state.jobs()[job].best_rate * state.jobs()[job].gpus;
      };
      double longest = 0;
      for (const std::int32_t job : queue_) longest = std::max(longest, work(job));
      std::optional<double> best;
      std::int32_t best_job = -1;
      Choice best_choice;
      for (const std::int32_t job : queue_) {
        if (!choose(state, job, partition, chosen_)) continue;
        const double aligned = chosen_.kind == GpuCandidate::Kind::kOneServer
                                   ? alignment(state, job, chosen_.key)
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
      if (choose(state, job, GpuClusterState::kWholeCluster, chosen_)) {
        state.place(job, chosen_.gpus);
      }
    }
  }

  // Where a job goes; false: it waits. That a shape of job finds no room is remembered until
  // something moves in the partition.
  bool choose(GpuClusterState& state, std::int32_t job, int partition, Choice& out) {
    std::uint64_t& full_since = remembered(state, job, partition);
    const std::uint64_t version = state.version(partition) + 1;
    if (full_since == version) return false;
    bool is_full = false;
    bool is_found = false;
    if (counts_disturbance(rules_.place) || rules_.place == PlacementRule::kRandom) {
      finder_.find(state, job, partition, candidates_);
      is_full = candidates_.empty();
      is_found = !is_full && choose_of_all(state, job, out);
    } else {
      is_found = choose_server(state, job, partition, out) ||
                 choose_spread(state, job, partition, out) ||
                 choose_shared(state, job, partition, out);
      is_full = !is_found;
    }
    if (is_full) full_since = version;
    return is_found;
  }

  std::uint64_t& remembered(const GpuClusterState& state, std::int32_t job, int partition) {
    const std::size_t shapes = state.model().speeds().shapes().size();
    if (full_since_.empty()) {
      full_since_.resize(shapes *
                         (static_cast<std::size_t>(state.model().config().partitions) + 1));
    }
    return full_since_[static_cast<std::size_t>(partition + 1) * shapes +
                       static_cast<std::size_t>(state.jobs()[job].shape)];
  }

  bool choose_server(const GpuClusterState& state, std::int32_t job, int partition, Choice& out) {
    const std::int32_t n = state.jobs()[job].gpus;
    const FreeServers& free = state.free_servers(partition);
    if (n > state.topology().per_server()) return false;
    std::int32_t server = -1;
    switch (rules_.place) {
      case PlacementRule::kBestFit:
        server = free.best_fit(n);
        break;
      case PlacementRule::kLeastLoaded:
        server = free.least_loaded(n);
        break;
      case PlacementRule::kTetris:
        server = best_aligned(state, job, partition);
        break;
      default:
        server = free.first_fit(n);
    }
    if (server < 0) return false;
    out.kind = GpuCandidate::Kind::kOneServer;
    out.key = server;
    pick_gpus(state, server, n, out.gpus);
    return true;
  }

  std::int32_t best_aligned(const GpuClusterState& state, std::int32_t job, int partition) {
    const std::int32_t n = state.jobs()[job].gpus;
    if (state.free_servers(partition).most() < n) return -1;
    const bool is_all = partition == GpuClusterState::kWholeCluster;
    const std::int32_t first = is_all ? 0 : state.model().first_server(partition);
    const std::int32_t end =
        is_all ? state.topology().num_servers() : state.model().first_server(partition + 1);
    std::int32_t best = -1;
    double best_score = 0;
    for (std::int32_t s = first; s < end; ++s) {
      if (state.idle_in_server(s) < n) continue;
      const double score = rounded_score(alignment(state, job, s));
      if (best >= 0 && score <= best_score) continue;
      best = s;
      best_score = score;
    }
    return best;
  }

  bool choose_spread(const GpuClusterState& state, std::int32_t job, int partition, Choice& out) {
    candidates_.clear();
    if (!finder_.may_spread(state, job) ||
        !finder_.find_spread(state, job, partition, 1, candidates_)) {
      return false;
    }
    take(state, job, 0, out);
    return true;
  }

  bool choose_shared(const GpuClusterState& state, std::int32_t job, int partition, Choice& out) {
    candidates_.clear();
    if (rules_.candidates.share == SharingRule::kNever ||
        !finder_.find_shared(state, job, partition, candidates_)) {
      return false;
    }
    std::size_t best = 0;
    if (rules_.place != PlacementRule::kFirstFit) {
      double best_gain = 0;
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        const double gain = rounded_score(joint_speed(state, job, i));
        if (i > 0 && gain <= best_gain) continue;
        best = i;
        best_gain = gain;
      }
    }
    take(state, job, best, out);
    return true;
  }

  double joint_speed(const GpuClusterState& state, std::int32_t job, std::size_t which) {
    const GpuTopology& t = state.topology();
    const std::int32_t gpu = finder_.gpus(state, job, candidates_, which).front();
    const std::int32_t gpu_type = t.gpu_type_of(t.server_of(gpu));
    const std::int32_t type = state.jobs()[job].type;
    const std::int32_t other = state.jobs()[candidates_[which].key].type;
    const JobSpeeds& speeds = state.model().speeds();
    return speeds.pair(gpu_type, type, other) + speeds.pair(gpu_type, other, type);
  }

  bool choose_of_all(GpuClusterState& state, std::int32_t job, Choice& out) {
    if (rules_.place == PlacementRule::kRandom) {
      take(state, job, random_.next() % candidates_.size(), out);
      return true;
    }
    std::size_t best = 0;
    double best_cost = 0;
    bool is_first = true;
    seen_types_.assign(state.topology().gpu_types().size(), false);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (stands_for_another(state, candidates_[i])) continue;
      const double cost = rounded_score(cost_of(state, job, i));
      if (!is_first && cost >= best_cost) continue;
      best = i;
      best_cost = cost;
      is_first = false;
    }
    if (best_cost > rounded_score(rules_.max_cost) && !state.running().empty()) return false;
    take(state, job, best, out);
    return true;
  }

  // Idle servers of one type cost the same: the first stands for all.
  bool stands_for_another(const GpuClusterState& state, const GpuCandidate& candidate) {
    if (candidate.kind != GpuCandidate::Kind::kOneServer ||
        state.idle_in_server(candidate.key) < state.topology().per_server()) {
      return false;
    }
    const auto type = static_cast<std::size_t>(state.topology().gpu_type_of(candidate.key));
    const bool is_seen = seen_types_[type];
    seen_types_[type] = true;
    return is_seen;
  }

  double cost_of(GpuClusterState& state, std::int32_t job, std::size_t which) {
    const bool in_seconds = rules_.place == PlacementRule::kLeastDelay;
    const double rate =
        state.predict(job, finder_.gpus(state, job, candidates_, which), disturbed_);
    const double best = state.jobs()[job].best_rate;
    double cost = (best / rate - 1.0) * (in_seconds ? state.left(job) / best : 1.0);
    for (const DisturbedJob& other : disturbed_) {
      cost += (other.before / other.after - 1.0) *
              (in_seconds ? state.left(other.job) / other.before : 1.0);
    }
    return cost;
  }

  void take(const GpuClusterState& state, std::int32_t job, std::size_t which, Choice& out) {
    out.kind = candidates_[which].kind;
    out.key = candidates_[which].key;
    const auto gpus = finder_.gpus(state, job, candidates_, which);
    out.gpus.assign(gpus.begin(), gpus.end());
  }

  GpuRulesConfig rules_;
  CandidateFinder finder_;
  SplitMix64 random_;
  // [partitions + 1, shapes]: the version at which there was no room, plus one.
  std::vector<std::uint64_t> full_since_;
  std::vector<std::int32_t> queue_;
  GpuCandidates candidates_;
  Choice chosen_;
  std::vector<DisturbedJob> disturbed_;
  std::vector<bool> seen_types_;
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

#include "env/gpu_cluster/place_by_rule.h"

#include <algorithm>
#include <span>

namespace pacml::env {
namespace {

bool counts_disturbance(PlacementRule rule) {
  return rule == PlacementRule::kLeastInterference || rule == PlacementRule::kLeastDelay;
}

}  // namespace

double rule_alignment(const GpuClusterState& state, std::int32_t job, std::int32_t server) {
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

// That a shape of job finds no room is remembered until something moves in the partition.
bool PlaceByRule::find(GpuClusterState& state, std::int32_t job, int partition, RulePlace& out) {
  std::uint64_t& full_since = remembered(state, job, partition);
  const std::uint64_t version = state.version(partition) + 1;
  if (full_since == version) return false;
  bool is_full = false;
  bool is_found = false;
  if (counts_disturbance(config_.rule) || config_.rule == PlacementRule::kRandom) {
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

std::uint64_t& PlaceByRule::remembered(const GpuClusterState& state, std::int32_t job,
                                       int partition) {
  const std::size_t shapes = state.model().speeds().shapes().size();
  if (full_since_.empty()) {
    full_since_.resize(shapes * (static_cast<std::size_t>(state.model().config().partitions) + 1));
  }
  return full_since_[static_cast<std::size_t>(partition + 1) * shapes +
                     static_cast<std::size_t>(state.jobs()[job].shape)];
}

bool PlaceByRule::choose_server(const GpuClusterState& state, std::int32_t job, int partition,
                                RulePlace& out) const {
  const std::int32_t n = state.jobs()[job].gpus;
  const FreeServers& free = state.free_servers(partition);
  if (n > state.topology().per_server()) return false;
  std::int32_t server = -1;
  switch (config_.rule) {
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

std::int32_t PlaceByRule::best_aligned(const GpuClusterState& state, std::int32_t job,
                                       int partition) {
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
    const double score = rounded_score(rule_alignment(state, job, s));
    if (best >= 0 && score <= best_score) continue;
    best = s;
    best_score = score;
  }
  return best;
}

bool PlaceByRule::choose_spread(const GpuClusterState& state, std::int32_t job, int partition,
                                RulePlace& out) {
  candidates_.clear();
  if (!finder_.may_spread(state, job) ||
      !finder_.find_spread(state, job, partition, 1, candidates_)) {
    return false;
  }
  take(state, job, 0, out);
  return true;
}

bool PlaceByRule::choose_shared(const GpuClusterState& state, std::int32_t job, int partition,
                                RulePlace& out) {
  candidates_.clear();
  if (config_.candidates.share == SharingRule::kNever ||
      !finder_.find_shared(state, job, partition, candidates_)) {
    return false;
  }
  std::size_t best = 0;
  if (config_.rule != PlacementRule::kFirstFit) {
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

double PlaceByRule::joint_speed(const GpuClusterState& state, std::int32_t job, std::size_t which) {
  const GpuTopology& t = state.topology();
  const std::int32_t gpu = finder_.gpus(state, job, candidates_, which).front();
  const std::int32_t gpu_type = t.gpu_type_of(t.server_of(gpu));
  const std::int32_t type = state.jobs()[job].type;
  const std::int32_t other = state.jobs()[candidates_[which].key].type;
  const JobSpeeds& speeds = state.model().speeds();
  return speeds.pair(gpu_type, type, other) + speeds.pair(gpu_type, other, type);
}

bool PlaceByRule::choose_of_all(GpuClusterState& state, std::int32_t job, RulePlace& out) {
  if (config_.rule == PlacementRule::kRandom) {
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
  if (best_cost > rounded_score(config_.max_cost) && !state.running().empty()) return false;
  take(state, job, best, out);
  return true;
}

// Idle servers of one type cost the same: the first stands for all.
bool PlaceByRule::stands_for_another(const GpuClusterState& state, const GpuCandidate& candidate) {
  if (candidate.kind != GpuCandidate::Kind::kOneServer ||
      state.idle_in_server(candidate.key) < state.topology().per_server()) {
    return false;
  }
  const auto type = static_cast<std::size_t>(state.topology().gpu_type_of(candidate.key));
  const bool is_seen = seen_types_[type];
  seen_types_[type] = true;
  return is_seen;
}

double PlaceByRule::cost_of(GpuClusterState& state, std::int32_t job, std::size_t which) {
  const bool in_seconds = config_.rule == PlacementRule::kLeastDelay;
  const double rate = state.predict(job, finder_.gpus(state, job, candidates_, which), disturbed_);
  const double best = state.jobs()[job].best_rate;
  double cost = (best / rate - 1.0) * (in_seconds ? state.left(job) / best : 1.0);
  for (const DisturbedJob& other : disturbed_) {
    cost += (other.before / other.after - 1.0) *
            (in_seconds ? state.left(other.job) / other.before : 1.0);
  }
  return cost;
}

void PlaceByRule::take(const GpuClusterState& state, std::int32_t job, std::size_t which,
                       RulePlace& out) {
  out.kind = candidates_[which].kind;
  out.key = candidates_[which].key;
  const auto gpus = finder_.gpus(state, job, candidates_, which);
  out.gpus.assign(gpus.begin(), gpus.end());
}

}  // namespace pacml::env

#include "env/gpu_cluster/gpu_candidates.h"

#include <algorithm>
#include <functional>

namespace pacml::env {
namespace {

// The unit of a level with the fewest idle GPUs that still fit; -1: none.
template <class Idle>
std::int32_t tightest(std::int32_t first, std::int32_t end, std::int32_t n, const Idle& idle) {
  std::int32_t best = -1;
  for (std::int32_t x = first; x < end; ++x) {
    if (idle(x) >= n && (best < 0 || idle(x) < idle(best))) best = x;
  }
  return best;
}

void take_idle(const GpuClusterState& state, std::int32_t first, std::int32_t end, std::int32_t n,
               std::vector<std::int32_t>& out) {
  for (std::int32_t g = first; g < end && n > 0; ++g) {
    if (!state.is_idle(g)) continue;
    out.push_back(g);
    --n;
  }
}

// The units from first to end - 1 by most idle GPUs, then by id; calls f(unit, GPUs to take) until
// there are n.
template <class Idle, class F>
void by_most_idle(std::int32_t first, std::int32_t end, std::int32_t n, const Idle& idle, F f) {
  std::int32_t last = -1;  // of the ones taken
  while (n > 0) {
    std::int32_t next = -1;
    for (std::int32_t x = first; x < end; ++x) {
      const bool is_behind =
          last < 0 || idle(x) < idle(last) || (idle(x) == idle(last) && x > last);
      if (is_behind && (next < 0 || idle(x) > idle(next))) next = x;
    }
    if (next < 0) return;
    const std::int32_t taken = std::min(n, idle(next));
    if (taken > 0) f(next, taken);
    n -= taken;
    last = next;
  }
}

void take_by_group(const GpuClusterState& state, std::int32_t socket, std::int32_t n,
                   std::vector<std::int32_t>& out) {
  const GpuTopology& t = state.topology();
  const std::int32_t groups = t.config().groups_per_socket;
  by_most_idle(
      socket * groups, (socket + 1) * groups, n,
      [&](std::int32_t g) { return state.idle_in_group(g); },
      [&](std::int32_t g, std::int32_t k) {
        take_idle(state, g * t.per_group(), (g + 1) * t.per_group(), k, out);
      });
}

}  // namespace

std::vector<std::string> validate(const CandidateRules& c) {
  if (c.gain >= 0 && c.gain <= 1e6) return {};
  return {"gain: must be in 0..1e6"};
}

void pick_gpus(const GpuClusterState& state, std::int32_t server, std::int32_t n,
               std::vector<std::int32_t>& out) {
  const GpuTopology& t = state.topology();
  out.clear();
  const std::int32_t first = server * t.per_server();
  if (n == state.idle_in_server(server)) {
    take_idle(state, first, first + t.per_server(), n, out);
    return;
  }
  const std::int32_t groups = t.per_server() / t.per_group();
  const std::int32_t group = tightest(server * groups, (server + 1) * groups, n,
                                      [&](std::int32_t g) { return state.idle_in_group(g); });
  if (group >= 0) {
    take_idle(state, group * t.per_group(), (group + 1) * t.per_group(), n, out);
    return;
  }
  const std::int32_t sockets = t.config().sockets;
  const auto idle_in_socket = [&](std::int32_t s) { return state.idle_in_socket(s); };
  const std::int32_t socket = tightest(server * sockets, (server + 1) * sockets, n, idle_in_socket);
  if (socket >= 0) {
    take_by_group(state, socket, n, out);
  } else {
    by_most_idle(server * sockets, (server + 1) * sockets, n, idle_in_socket,
                 [&](std::int32_t s, std::int32_t k) { take_by_group(state, s, k, out); });
  }
  std::ranges::sort(out);
}

CandidateFinder::Range CandidateFinder::servers(const GpuClusterState& state, int partition) {
  if (partition < 0) return {0, state.topology().num_servers()};
  return {state.model().first_server(partition), state.model().first_server(partition + 1)};
}

bool CandidateFinder::may_spread(const GpuClusterState& state, std::int32_t job) const {
  const std::int32_t n = state.jobs()[job].gpus;
  return n > 1 && (rules_.spread || n > state.topology().per_server());
}

void CandidateFinder::find(const GpuClusterState& state, std::int32_t job, int partition,
                           GpuCandidates& out) {
  out.clear();
  const std::int32_t n = state.jobs()[job].gpus;
  if (state.free_servers(partition).most() >= n) {
    const Range range = servers(state, partition);
    for (std::int32_t s = range.first; s < range.end; ++s) {
      if (state.idle_in_server(s) >= n) out.candidates_.push_back({.key = s});
    }
  }
  if ((out.empty() || rules_.always_spread) && may_spread(state, job)) {
    find_spread(state, job, partition, static_cast<std::size_t>(state.topology().num_servers()),
                out);
  }
  if (rules_.share == SharingRule::kAlways ||
      (rules_.share == SharingRule::kFallback && out.empty())) {
    find_shared(state, job, partition, out);
  }
}

// Racks, or else pods, or else all servers together: the first scope that has room anywhere.
bool CandidateFinder::find_spread(const GpuClusterState& state, std::int32_t job, int partition,
                                  std::size_t most, GpuCandidates& out) {
  if (state.free_servers(partition).total() < state.jobs()[job].gpus) return false;
  const GpuTopology& t = state.topology();
  const Range range = servers(state, partition);
  std::size_t found = 0;
  for (const Scope scope : {Scope::kRack, Scope::kPod, Scope::kAll}) {
    const auto key_of = [&](std::int32_t s) {
      if (scope == Scope::kAll) return 0;
      return scope == Scope::kRack ? t.rack_of(s) : t.pod_of(s);
    };
    for (std::int32_t s = range.first; s < range.end && found < most;) {
      Range part{s, s};
      while (part.end < range.end && key_of(part.end) == key_of(s)) ++part.end;
      if (spread_over(state, job, part, key_of(s), out)) ++found;
      s = part.end;
    }
    if (found > 0) return true;
  }
  return false;
}

bool CandidateFinder::spread_over(const GpuClusterState& state, std::int32_t job, Range range,
                                  std::int32_t key, GpuCandidates& out) {
  std::int32_t need = state.jobs()[job].gpus;
  std::int32_t idle = 0;
  for (std::int32_t s = range.first; s < range.end; ++s) idle += state.idle_in_server(s);
  if (idle < need) return false;
  order_.clear();
  for (std::int32_t s = range.first; s < range.end; ++s) {
    if (state.idle_in_server(s) > 0) order_.push_back(s);
  }
  std::ranges::stable_sort(order_, std::greater<>{},
                           [&](std::int32_t s) { return state.idle_in_server(s); });
  if (state.idle_in_server(order_.front()) >= need) return false;  // it would not span servers
  const std::size_t first = out.gpus_.size();
  for (const std::int32_t s : order_) {
    const std::int32_t k = std::min(need, state.idle_in_server(s));
    pick_gpus(state, s, k, picked_);
    out.gpus_.insert(out.gpus_.end(), picked_.begin(), picked_.end());
    need -= k;
    if (need == 0) break;
  }
  std::sort(out.gpus_.begin() + static_cast<std::ptrdiff_t>(first), out.gpus_.end());
  out.candidates_.push_back(
      {.kind = GpuCandidate::Kind::kSeveralServers, .key = key, .first_gpu = first});
  return true;
}

bool CandidateFinder::find_shared(const GpuClusterState& state, std::int32_t job, int partition,
                                  GpuCandidates& out) {
  if (state.model().config().share < 2) return false;
  const GpuTopology& t = state.topology();
  const JobSpeeds& speeds = state.model().speeds();
  const GpuJob& of = state.jobs()[job];
  const Range range = servers(state, partition);
  const auto fits = [&](std::int32_t gpu_type, std::int32_t other) {
    const double own = speeds.pair(gpu_type, of.type, other);
    const double theirs = speeds.pair(gpu_type, other, of.type);
    return own > 0 && theirs > 0 && own + theirs >= rules_.gain;
  };
  const auto num_gpu_types = static_cast<std::int32_t>(t.gpu_types().size());
  partners_.clear();
  for (std::int32_t type = 0; type < static_cast<std::int32_t>(speeds.types().size()); ++type) {
    const auto running = state.running_of_type(type);
    if (running.empty()) continue;
    bool is_any = false;
    for (std::int32_t g = 0; g < num_gpu_types; ++g) is_any = is_any || fits(g, type);
    if (!is_any) continue;
    for (const std::int32_t other : running) {
      const GpuLayout& layout = state.layout(other);
      if (layout.alone < of.gpus || t.server_of(layout.gpus.front()) < range.first ||
          t.server_of(layout.gpus.back()) >= range.end) {
        continue;
      }
      partners_.push_back(other);
    }
  }
  std::ranges::sort(partners_);
  bool is_found = false;
  for (const std::int32_t other : partners_) {
    const std::size_t first = out.gpus_.size();
    std::int32_t need = of.gpus;
    for (const std::int32_t g : state.layout(other).gpus) {
      if (state.resident(g, 1) >= 0 ||
          (num_gpu_types > 1 && !fits(t.gpu_type_of(t.server_of(g)), state.jobs()[other].type))) {
        continue;
      }
      out.gpus_.push_back(g);
      if (--need == 0) break;
    }
    if (need > 0) {
      out.gpus_.resize(first);
      continue;
    }
    out.candidates_.push_back(
        {.kind = GpuCandidate::Kind::kShared, .key = other, .first_gpu = first});
    is_found = true;
  }
  return is_found;
}

std::span<const std::int32_t> CandidateFinder::gpus(const GpuClusterState& state, std::int32_t job,
                                                    const GpuCandidates& from, std::size_t which) {
  const GpuCandidate& candidate = from[which];
  const auto n = static_cast<std::size_t>(state.jobs()[job].gpus);
  if (candidate.kind != GpuCandidate::Kind::kOneServer) {
    return std::span(from.gpus_).subspan(candidate.first_gpu, n);
  }
  pick_gpus(state, candidate.key, state.jobs()[job].gpus, picked_);
  return picked_;
}

}  // namespace pacml::env

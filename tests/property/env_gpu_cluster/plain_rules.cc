#include "tests/property/env_gpu_cluster/plain_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

// Indices are ints here, as in the rules.
#pragma GCC diagnostic ignored "-Wsign-conversion"

namespace pacml::env {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double rounded(double v) { return std::floor(v * 1e9 + 0.5); }

std::map<int, std::vector<int>> grouped(const std::vector<int>& gpus, int size) {
  std::map<int, std::vector<int>> parts;
  for (const int g : gpus) parts[g / size].push_back(g);
  return parts;
}

// By most members, then by id.
std::vector<std::vector<int>> largest_first(const std::map<int, std::vector<int>>& parts) {
  std::vector<std::vector<int>> lists;
  for (const auto& [id, list] : parts) lists.push_back(list);
  std::ranges::stable_sort(lists, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return lists;
}

}  // namespace

PlainCluster::PlainCluster(const RandomCluster& cluster)
    : cluster_(cluster), random_(cluster.rules.seed) {
  const GpuTopologyConfig& t = cluster.config.topology;
  per_group_ = t.gpus_per_group;
  per_socket_ = per_group_ * t.groups_per_socket;
  per_server_ = per_socket_ * t.sockets;
  servers_ = t.servers;
  per_rack_ = t.servers_per_rack == 0 ? servers_ : t.servers_per_rack;
  racks_ = (servers_ + per_rack_ - 1) / per_rack_;
  racks_per_pod_ = t.racks_per_pod == 0 ? racks_ : t.racks_per_pod;
  for (const GpuTypeServers& type : t.gpu_types) {
    for (int i = 0; i < type.servers; ++i) gpu_type_.push_back(type.type);
  }
  for (const GpuJobSpec& job : cluster.jobs) {
    jobs_.push_back({.left = job.steps, .since = job.submit_s, .gpus = {}});
  }
  progress_.resize(cluster.config.partitions);
}

GpuSpeed PlainCluster::speed(int j, const std::string& gpu_type) const {
  return cluster_.tables.types.at(spec(j).type).speeds.at(gpu_type).at(spec(j).gpus);
}

double PlainCluster::best_rate(int j) const {
  double best = 0;
  for (const std::string& type : gpu_type_) {
    const GpuSpeed s = speed(j, type);
    best = std::max(best, spec(j).gpus > per_server_ ? s.spread : s.together);
  }
  return best;
}

double PlainCluster::pair(const std::string& gpu_type, int a, int b) const {
  const auto rows = cluster_.tables.pairs.find(gpu_type);
  if (rows == cluster_.tables.pairs.end()) return 0;
  const auto row = rows->second.find(spec(a).type);
  if (row == rows->second.end()) return 0;
  const auto share = row->second.find(spec(b).type);
  return share == row->second.end() ? 0 : share->second;
}

int PlainCluster::level(const std::vector<int>& gpus) const {
  const int rack = per_server_ * (cluster_.config.topology.dims.empty() ? per_rack_ : servers_);
  const std::vector<int> sizes{per_group_, per_socket_, per_server_, rack, rack * racks_per_pod_};
  for (int l = 0; l < 5; ++l) {
    if (grouped(gpus, sizes[l]).size() == 1) return l;
  }
  return 5;
}

std::map<int, double> PlainCluster::links(const std::vector<int>& gpus, GpuComm comm) const {
  std::set<int> on;
  for (const int g : gpus) on.insert(server(g));
  std::map<int, double> out;
  if (on.size() == 1) return out;
  const std::vector<int> list(on.begin(), on.end());
  const auto& dims = cluster_.config.topology.dims;
  if (!dims.empty()) {
    const int rows = static_cast<int>(dims[0]);
    const int columns = static_cast<int>(dims[1]);
    for (std::size_t i = 0; i < list.size(); ++i) {
      int at = list[i];
      const int to = list[(i + 1) % list.size()];
      for (const int dim : {0, 1}) {
        const int side = dim == 0 ? rows : columns;
        const auto place = [&](int s) { return dim == 0 ? s / columns : s % columns; };
        const int forward = (place(to) - place(at) + side) % side;
        const bool plus = forward <= side - forward;
        while (place(at) != place(to)) {
          out[at * 4 + 2 * dim + (plus ? 0 : 1)] += 1;
          const int next = (place(at) + (plus ? 1 : side - 1)) % side;
          at = dim == 0 ? next * columns + at % columns : at / columns * columns + next;
        }
      }
    }
    return out;
  }
  std::map<int, int> racks;
  std::map<int, int> pods;
  for (const int s : list) {
    out[s] = 1;
    ++racks[rack(s)];
    ++pods[pod(s)];
  }
  const double m = static_cast<double>(list.size());
  const auto weight = [&](double a) {
    return comm == GpuComm::kRing ? 1.0 : a * (m - a) / (m - 1);
  };
  if (racks.size() > 1) {
    for (const auto& [id, a] : racks) out[servers_ + id] = weight(a);
  }
  if (pods.size() > 1) {
    for (const auto& [id, a] : pods) out[servers_ + racks_ + id] = weight(a);
  }
  return out;
}

double PlainCluster::capacity(int link) const {
  const GpuTopologyConfig& t = cluster_.config.topology;
  if (!t.dims.empty() || link < servers_) return 1;
  const double rack = per_rack_ / t.oversub_rack;
  return link < servers_ + racks_ ? rack : rack * racks_per_pod_ / t.oversub_pod;
}

PlainCluster::Profile PlainCluster::profile(int j, const std::vector<int>& gpus) const {
  std::set<std::pair<double, std::string>> types;
  for (const int g : gpus) types.emplace(speed(j, type_of(g)).together, type_of(g));
  const auto [together, spread] = speed(j, types.begin()->second);
  Profile out;
  out.compute = 1.0 / together;
  if (spec(j).gpus > 1) {
    out.network = std::max(0.0, 1.0 / spread - 1.0 / together) * cluster_.config.kappa[level(gpus)];
  }
  const double share = out.network / (1.0 / together + out.network);
  for (const auto& [link, weight] : links(gpus, spec(j).comm)) out.links[link] = share * weight;
  for (const int g : gpus) ++out.sockets[g / per_socket_];
  return out;
}

std::vector<int> PlainCluster::residents(int gpu) const {
  std::vector<int> list;
  for (int j = 0; j < static_cast<int>(jobs_.size()); ++j) {
    if (std::ranges::count(jobs_[j].gpus, gpu) > 0) list.push_back(j);
  }
  return list;
}

double PlainCluster::host_load(int socket) const {
  double load = 0;
  for (int j = 0; j < static_cast<int>(jobs_.size()); ++j) {
    const auto there = grouped(jobs_[j].gpus, per_socket_);
    if (!there.contains(socket)) continue;
    load += static_cast<double>(there.at(socket).size()) *
            cluster_.tables.types.at(spec(j).type).host_load;
  }
  return load;
}

double PlainCluster::rate(int j) const {
  if (now_ < jobs_[j].thaw) return 0;
  const Profile own = profile(j, jobs_[j].gpus);
  double f = 1;
  for (const int g : jobs_[j].gpus) {
    for (const int other : residents(g)) {
      if (other != j) f = std::min(f, pair(type_of(g), j, other));
    }
  }
  double host = 1;
  for (const auto& [socket, gpus] : own.sockets) {
    host = std::max(host, host_load(socket) / (cluster_.config.host_cap * per_socket_));
  }
  double network = 1;
  for (const auto& [link, load] : own.links) {
    double all = 0;
    for (int o = 0; o < static_cast<int>(jobs_.size()); ++o) {
      if (jobs_[o].gpus.empty()) continue;
      const auto theirs = profile(o, jobs_[o].gpus).links;
      if (theirs.contains(link)) all += theirs.at(link);
    }
    network = std::max(network, all / capacity(link));
  }
  return 1.0 / (own.compute * host / f + own.network * network);
}

std::set<int> PlainCluster::affected(int j) const {
  const Profile own = profile(j, jobs_[j].gpus);
  std::set<int> ids{j};
  for (int o = 0; o < static_cast<int>(jobs_.size()); ++o) {
    if (jobs_[o].gpus.empty()) continue;
    const Profile theirs = profile(o, jobs_[o].gpus);
    for (const auto& [socket, gpus] : own.sockets) {
      if (theirs.sockets.contains(socket)) ids.insert(o);
    }
    for (const auto& [link, load] : own.links) {
      if (theirs.links.contains(link)) ids.insert(o);
    }
  }
  return ids;
}

int PlainCluster::idle(int first, int end) const {
  int n = 0;
  for (int g = first; g < end; ++g) n += residents(g).empty() ? 1 : 0;
  return n;
}

double PlainCluster::left(int j) const {
  return std::max(0.0, jobs_[j].left - jobs_[j].rate * (now_ - jobs_[j].since));
}

void PlainCluster::settle(int j) {
  const double now_left = left(j);
  progress_[jobs_[j].partition] += (jobs_[j].left - now_left) / spec(j).steps;
  jobs_[j].left = now_left;
  jobs_[j].since = now_;
}

void PlainCluster::rebase(const std::set<int>& ids) {
  for (const int j : ids) {
    const double r = rate(j);
    if (r == jobs_[j].rate) continue;
    settle(j);
    jobs_[j].rate = r;
    ++jobs_[j].version;
    if (r > 0) events_.emplace(now_ + jobs_[j].left / r, 0, j, jobs_[j].version);
  }
}

void PlainCluster::place(int j, const std::vector<int>& gpus) {
  waiting_.erase(j);
  running_.insert(j);
  Job& job = jobs_[j];
  job.gpus = gpus;
  job.since = now_;
  job.rate = 0;
  if (job.start < 0) job.start = now_;
  if (job.preemptions > 0 && cluster_.config.restart_cost_s > 0) {
    job.thaw = now_ + cluster_.config.restart_cost_s;
    events_.emplace(job.thaw, 1, j, 0);
  }
  const std::set<int> ids = affected(j);
  rebase(ids);
  GpuDecision decision{.time_s = now_, .job = j};
  decision.gpus.assign(gpus.begin(), gpus.end());
  for (const int id : ids) decision.rates.emplace_back(id, jobs_[id].rate);
  decisions_.push_back(std::move(decision));
}

void PlainCluster::release(int j) {
  std::set<int> ids = affected(j);
  ids.erase(j);
  running_.erase(j);
  Job& job = jobs_[j];
  job.gpus.clear();
  job.rate = 0;
  job.thaw = 0;
  ++job.version;
  rebase(ids);
}

std::vector<int> PlainCluster::by_group(const std::vector<int>& idle_gpus, int n) const {
  std::vector<int> out;
  for (const auto& list : largest_first(grouped(idle_gpus, per_group_))) {
    out.insert(out.end(), list.begin(), list.end());
  }
  out.resize(n);
  std::ranges::sort(out);
  return out;
}

std::vector<int> PlainCluster::pick(int s, int n) const {
  std::vector<int> all;
  for (int g = s * per_server_; g < (s + 1) * per_server_; ++g) {
    if (residents(g).empty()) all.push_back(g);
  }
  if (n == static_cast<int>(all.size())) return all;
  for (const int size : {per_group_, per_socket_}) {
    const std::vector<int>* best = nullptr;
    const auto parts = grouped(all, size);
    for (const auto& [id, list] : parts) {
      if (static_cast<int>(list.size()) >= n && (best == nullptr || list.size() < best->size())) {
        best = &list;
      }
    }
    if (best != nullptr) return by_group(*best, n);
  }
  std::vector<int> out;
  for (const auto& list : largest_first(grouped(all, per_socket_))) {
    const int more = std::min<int>(n - static_cast<int>(out.size()), static_cast<int>(list.size()));
    const auto picked = by_group(list, more);
    out.insert(out.end(), picked.begin(), picked.end());
  }
  std::ranges::sort(out);
  return out;
}

std::vector<PlainCluster::Candidate> PlainCluster::candidates(int j, int first, int end) const {
  const CandidateRules& rules = cluster_.rules.candidates;
  const int n = spec(j).gpus;
  const auto idle_of = [&](int s) { return idle(s * per_server_, (s + 1) * per_server_); };
  std::vector<Candidate> out;
  for (int s = first; s < end; ++s) {
    if (idle_of(s) >= n) out.push_back({0, s, pick(s, n)});
  }
  if ((out.empty() || rules.always_spread) && n > 1 && (n > per_server_ || rules.spread)) {
    for (int scope = 0; scope < 3; ++scope) {
      std::map<int, std::vector<int>> parts;
      for (int s = first; s < end; ++s) {
        parts[scope == 0 ? rack(s) : scope == 1 ? pod(s) : 0].push_back(s);
      }
      bool found = false;
      for (auto& [key, list] : parts) {
        int sum = 0;
        for (const int s : list) sum += idle_of(s);
        if (sum < n) continue;
        std::ranges::stable_sort(list, [&](int a, int b) { return idle_of(a) > idle_of(b); });
        Candidate candidate{1, key, {}};
        int need = n;
        int spanned = 0;
        for (const int s : list) {
          const int k = std::min(need, idle_of(s));
          if (k == 0) break;
          const auto picked = pick(s, k);
          candidate.gpus.insert(candidate.gpus.end(), picked.begin(), picked.end());
          need -= k;
          ++spanned;
        }
        std::ranges::sort(candidate.gpus);
        if (spanned < 2) continue;
        out.push_back(std::move(candidate));
        found = true;
      }
      if (found) break;
    }
  }
  const bool may_share =
      rules.share == SharingRule::kAlways || (rules.share == SharingRule::kFallback && out.empty());
  if (cluster_.config.share < 2 || !may_share) return out;
  for (const int other : running_) {
    const auto& theirs = jobs_[other].gpus;
    if (server(theirs.front()) < first || server(theirs.back()) >= end) continue;
    Candidate candidate{2, other, {}};
    for (const int g : theirs) {
      const double a = pair(type_of(g), j, other);
      const double b = pair(type_of(g), other, j);
      if (residents(g).size() == 1 && a > 0 && b > 0 && a + b >= rules.gain) {
        candidate.gpus.push_back(g);
      }
    }
    if (static_cast<int>(candidate.gpus.size()) < n) continue;
    candidate.gpus.resize(n);
    out.push_back(std::move(candidate));
  }
  return out;
}

double PlainCluster::cost(int j, const Candidate& candidate) {
  const bool seconds = cluster_.rules.place == PlacementRule::kLeastDelay;
  jobs_[j].gpus = candidate.gpus;
  double total = (best_rate(j) / rate(j) - 1.0) * (seconds ? left(j) / best_rate(j) : 1.0);
  for (const int o : affected(j)) {
    if (o == j || jobs_[o].rate == 0) continue;
    total += (jobs_[o].rate / rate(o) - 1.0) * (seconds ? left(o) / jobs_[o].rate : 1.0);
  }
  jobs_[j].gpus.clear();
  return total;
}

double PlainCluster::align(int j, int s) const {
  const double host = cluster_.tables.types.at(spec(j).type).host_load;
  const int sockets = per_server_ / per_socket_;
  double load = 0;
  for (int k = s * sockets; k < (s + 1) * sockets; ++k) load += host_load(k);
  const double cap = cluster_.config.host_cap * per_socket_ * sockets;
  const double need = spec(j).gpus * host;
  return static_cast<double>(spec(j).gpus) / per_server_ *
             idle(s * per_server_, (s + 1) * per_server_) / per_server_ +
         need / cap * std::max(0.0, cap - load) / cap;
}

std::uint64_t PlainCluster::draw() {
  random_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = random_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

std::optional<PlainCluster::Candidate> PlainCluster::choose(int j, int first, int end) {
  std::vector<Candidate> all = candidates(j, first, end);
  if (all.empty()) return std::nullopt;
  const PlacementRule rule = cluster_.rules.place;
  if (rule == PlacementRule::kRandom) return all[draw() % all.size()];
  const auto best_of = [&](const auto& score) {  // the highest; the first of equals
    std::size_t best = 0;
    for (std::size_t k = 1; k < all.size(); ++k) {
      if (score(all[k]) > score(all[best])) best = k;
    }
    return all[best];
  };
  if (rule == PlacementRule::kLeastInterference || rule == PlacementRule::kLeastDelay) {
    std::optional<Candidate> best;
    double least = 0;
    std::set<std::string> seen;
    for (const Candidate& c : all) {
      const bool is_empty =
          c.kind == 0 && idle(c.key * per_server_, (c.key + 1) * per_server_) == per_server_;
      if (is_empty && !seen.insert(gpu_type_[c.key]).second) continue;
      const double price = rounded(cost(j, c));
      if (best && price >= least) continue;
      best = c;
      least = price;
    }
    if (least > rounded(cluster_.rules.max_cost) && !running_.empty()) return std::nullopt;
    return best;
  }
  const int kind = all.front().kind;  // they come in this order
  std::erase_if(all, [&](const Candidate& c) { return c.kind != kind; });
  const auto idle_of = [&](const Candidate& c) {
    return idle(c.key * per_server_, (c.key + 1) * per_server_);
  };
  if (kind == 2 && rule != PlacementRule::kFirstFit) {
    return best_of([&](const Candidate& c) {
      const std::string& type = type_of(c.gpus.front());
      return rounded(pair(type, j, c.key) + pair(type, c.key, j));
    });
  }
  if (kind == 0 && rule == PlacementRule::kLeastLoaded) return best_of(idle_of);
  if (kind == 0 && rule == PlacementRule::kBestFit) {
    return best_of([&](const Candidate& c) { return -idle_of(c); });
  }
  if (kind == 0 && rule == PlacementRule::kTetris) {
    return best_of([&](const Candidate& c) { return rounded(align(j, c.key)); });
  }
  return all.front();
}

std::vector<int> PlainCluster::order(std::vector<int> queue) const {
  const ScheduleOrder kind = cluster_.rules.order;
  const auto key = [&](int j) {
    double score = 0;
    if (kind == ScheduleOrder::kSrtf || kind == ScheduleOrder::kSrsf) {
      score = rounded(left(j) / best_rate(j) * (kind == ScheduleOrder::kSrsf ? spec(j).gpus : 1));
    }
    return std::tuple(score, spec(j).submit_s, j);
  };
  std::ranges::sort(queue, [&](int a, int b) { return key(a) < key(b); });
  return queue;
}

int PlainCluster::bound(int p) const { return servers_ * p / cluster_.config.partitions; }

void PlainCluster::decide() {
  const GpuRulesConfig& rules = cluster_.rules;
  if (rules.preempt) {
    decide_preempting();
    return;
  }
  for (int p = 0; p < cluster_.config.partitions; ++p) {
    std::vector<int> queue;
    for (const int j : waiting_) {
      if (jobs_[j].partition == p) queue.push_back(j);
    }
    queue = order(queue);
    if (rules.window > 0 && static_cast<int>(queue.size()) > rules.window) {
      queue.resize(rules.window);
    }
    if (rules.order == ScheduleOrder::kDrf) {
      decide_drf(queue, bound(p), bound(p + 1));
    } else if (rules.order == ScheduleOrder::kTetris) {
      decide_tetris(queue, bound(p), bound(p + 1));
    } else if (rules.order == ScheduleOrder::kAgent) {
      decide_agent(queue, p);
    } else {
      for (const int j : queue) {
        if (const auto c = choose(j, bound(p), bound(p + 1))) {
          place(j, c->gpus);
        } else if (rules.strict) {
          break;
        }
      }
    }
  }
}

void PlainCluster::decide_drf(std::vector<int> queue, int first, int end) {
  std::set<std::string> out;
  while (true) {
    std::set<std::pair<int, std::string>> users;
    for (const int j : queue) {
      if (out.contains(spec(j).user)) continue;
      int held = 0;
      for (const int r : running_) {
        if (spec(r).user == spec(j).user) held += spec(r).gpus;
      }
      users.emplace(held, spec(j).user);
    }
    if (users.empty()) return;
    const std::string user = users.begin()->second;
    const int j = *std::ranges::find_if(queue, [&](int q) { return spec(q).user == user; });
    const auto c = choose(j, first, end);
    if (c) {
      std::erase(queue, j);
      place(j, c->gpus);
    } else {
      out.insert(user);
    }
  }
}

void PlainCluster::decide_tetris(std::vector<int> queue, int first, int end) {
  while (!queue.empty()) {
    const auto work = [&](int j) { return left(j) / best_rate(j) * spec(j).gpus; };
    double longest = 0;
    for (const int j : queue) longest = std::max(longest, work(j));
    std::optional<std::pair<int, Candidate>> best;
    double best_score = 0;
    for (const int j : queue) {
      const auto c = choose(j, first, end);
      if (!c) continue;
      const double score = rounded((c->kind == 0 ? align(j, c->key) : 0.0) +
                                   cluster_.rules.eps * (1.0 - work(j) / longest));
      if (best && score <= best_score) continue;
      best = {j, *c};
      best_score = score;
    }
    if (!best) return;
    std::erase(queue, best->first);
    place(best->first, best->second.gpus);
  }
}

void PlainCluster::decide_agent(const std::vector<int>& queue, int p) {
  for (const int j : queue) {
    const auto all = candidates(j, bound(p), bound(p + 1));
    std::vector<int> others;
    for (int q = 0; q < cluster_.config.partitions; ++q) {
      if (q != p && jobs_[j].forwarded != now_) others.push_back(q);
    }
    const std::size_t total = 1 + others.size() + all.size();
    const std::size_t action = draw() % total;
    decisions_.push_back({.time_s = now_,
                          .job = j,
                          .kind = GpuDecision::Kind::kActed,
                          .scheduler = p,
                          .action = static_cast<std::int64_t>(action),
                          .num_actions = static_cast<std::int64_t>(total)});
    if (action > others.size()) {
      place(j, all[action - 1 - others.size()].gpus);
    } else if (action > 0) {
      jobs_[j].partition = others[action - 1];
      jobs_[j].forwarded = now_;
    }
  }
}

void PlainCluster::decide_preempting() {
  std::vector<int> all(waiting_.begin(), waiting_.end());
  all.insert(all.end(), running_.begin(), running_.end());
  std::vector<int> chosen;
  int room = servers_ * per_server_;
  for (const int j : order(all)) {
    if (spec(j).gpus > room) continue;
    chosen.push_back(j);
    room -= spec(j).gpus;
  }
  for (const int j : std::set<int>(running_)) {
    if (std::ranges::count(chosen, j) > 0) continue;
    settle(j);
    ++jobs_[j].preemptions;
    release(j);
    waiting_.insert(j);
    decisions_.push_back({.time_s = now_,
                          .job = j,
                          .kind = GpuDecision::Kind::kPreempted,
                          .preemptions = jobs_[j].preemptions});
  }
  for (const int j : chosen) {
    if (running_.contains(j)) continue;
    if (const auto c = choose(j, 0, servers_)) place(j, c->gpus);
  }
}

int PlainCluster::route(int j) const {
  const int partitions = cluster_.config.partitions;
  if (cluster_.config.route == JobRoute::kHome) return j % partitions;
  std::set<std::pair<double, int>> loads;
  for (int p = 0; p < partitions; ++p) {
    double gpus = 0;
    for (int o = 0; o < static_cast<int>(jobs_.size()); ++o) {
      const bool is_in = waiting_.contains(o) || running_.contains(o);
      if (is_in && jobs_[o].partition == p) gpus += spec(o).gpus;
    }
    loads.emplace(rounded(gpus / (bound(p + 1) - bound(p))), p);
  }
  return loads.begin()->second;
}

double PlainCluster::round_up(double t) const {
  const double round = cluster_.config.round_s;
  return round > 0 ? std::max(t, std::ceil(t / round) * round) : t;
}

void PlainCluster::run() {
  std::set<std::pair<double, int>> arrivals;
  for (int j = 0; j < static_cast<int>(jobs_.size()); ++j) arrivals.emplace(spec(j).submit_s, j);
  now_ = arrivals.begin()->first;
  double pending = kNever;
  while (true) {
    std::erase_if(events_, [&](const Event& e) {
      const auto& [time, kind, job, version] = e;
      return kind == 0 && version != jobs_[job].version;
    });
    const double t = std::min({events_.empty() ? kNever : std::get<0>(*events_.begin()),
                               arrivals.empty() ? kNever : arrivals.begin()->first, pending});
    if (t == kNever) return;
    busy_gpu_s_ += (t - now_) * (servers_ * per_server_ - idle(0, servers_ * per_server_));
    active_job_s_ += (t - now_) * static_cast<double>(running_.size() + waiting_.size());
    now_ = t;
    while (!events_.empty() && std::get<0>(*events_.begin()) == t) {
      const auto [time, kind, j, version] = *events_.begin();
      events_.erase(events_.begin());
      Job& job = jobs_[j];
      if (kind == 1 && !job.gpus.empty() && job.thaw == t) {
        rebase({j});
      } else if (kind == 0 && version == job.version) {
        progress_[job.partition] += job.left / spec(j).steps;
        job.left = 0;
        job.finish = t;
        release(j);
        pending = std::min(pending, round_up(t));
      }
    }
    while (!arrivals.empty() && arrivals.begin()->first == t) {
      const int j = arrivals.begin()->second;
      arrivals.erase(arrivals.begin());
      jobs_[j].partition = route(j);
      waiting_.insert(j);
      pending = std::min(pending, round_up(t));
    }
    if (pending != t) continue;
    pending = kNever;
    decide();
    const double round = cluster_.config.round_s;
    if (round > 0 && !waiting_.empty()) pending = (std::ceil(t / round) + 1) * round;
  }
}

}  // namespace pacml::env

#include "env/tasks/gpu_scheduling/offers.h"

#include <algorithm>
#include <functional>
#include <ranges>

#include "common/index.h"

namespace pacml::env {
namespace {

// So many partners are valued for each place that is offered.
constexpr int kPartnersPerPlace = 4;

Offer::Kind kind_of(GpuCandidate::Kind kind) {
  switch (kind) {
    case GpuCandidate::Kind::kOneServer:
      return Offer::Kind::kOneServer;
    case GpuCandidate::Kind::kSeveralServers:
      return Offer::Kind::kSeveralServers;
    case GpuCandidate::Kind::kShared:
      return Offer::Kind::kShared;
  }
  return Offer::Kind::kPass;
}

// Whether a scheduler could start the job without sharing.
bool has_room(const GpuClusterState& state, std::int32_t job, int partition) {
  const FreeServers& free = state.free_servers(partition);
  const std::int32_t n = state.jobs()[job].gpus;
  return n > state.topology().per_server() ? free.total() >= n : free.most() >= n;
}

// The same of another one, beside all that has been handed to it and that it has not started.
bool has_room_yet(const GpuClusterState& state, std::int32_t job, int partition) {
  const std::int64_t idle = state.free_servers(partition).total();
  return has_room(state, job, partition) &&
         idle - state.gpus_handed(partition) >= state.jobs()[job].gpus;
}

}  // namespace

bool has_to_begin(const GpuClusterState& state, int partition) {
  return state.free_servers(partition).total() == state.model().num_gpus(partition);
}

bool Offers::find(GpuClusterState& state, int partition) {
  offers_.clear();
  gpus_.clear();
  if (config_.pass && !has_to_begin(state, partition)) offers_.push_back({});
  if (config_.sizes > 0) return find_sizes(state, partition);
  const bool may_forward = !state.running().empty() && config_.forwards > 0;
  // Jobs of one shape have the same places, and the same schedulers have room for them.
  const std::size_t shapes = state.model().speeds().shapes().size();
  no_place_.assign(shapes, 0);
  no_room_.assign(shapes, may_forward ? 0 : 1);
  // Who may not pass is to start something, or to hand it to whoever does.
  no_faster_.assign(shapes, may_forward && config_.wait_for_faster && !offers_.empty() ? 0 : 1);
  int jobs = 0;
  int upgrades = 0;
  for (const GpuClusterState::Waiting& waiting : state.waiting(partition)) {
    const std::int32_t job = waiting.job;
    const std::size_t shape = at(state.jobs()[job].shape);
    std::uint8_t& no_place = no_place_[shape];
    std::uint8_t& no_room = no_room_[shape];
    std::uint8_t& no_faster = no_faster_[shape];
    const bool has_place =
        no_place == 0 &&
        (rule_ ? add_place_of_rule(state, job, state.jobs()[job].best_rate, partition)
               : add_places(state, job, partition));
    if (!has_place) no_place = 1;
    bool has_forward = false;
    const bool may_go = state.progress(job).forwarded != state.now() &&
                        state.progress(job).handovers < config_.handovers;
    if (no_room == 0 && may_go) {
      has_forward = add_forwards(state, job, partition);
      if (!has_forward) no_room = 1;
    }
    if (no_faster == 0 && !has_forward && may_go && upgrades < config_.jobs) {
      if (add_upgrade(state, job, partition)) {
        ++upgrades;
      } else {
        no_faster = 1;
      }
    }
    if ((has_place || has_forward) && ++jobs == config_.jobs) break;
  }
  return jobs + upgrades > 0;
}

bool Offers::add_places(GpuClusterState& state, std::int32_t job, int partition) {
  finder_.find(state, job, partition, candidates_);
  if (candidates_.empty()) return false;
  looked_at_.clear();
  choose_partners(state, job);
  valued_.clear();
  for (const std::size_t c : looked_at_) {
    const GpuCandidate& from = candidates_[c];
    const auto gpus = finder_.gpus(state, job, candidates_, c);
    valued_.push_back(
        {.offer = value(state, job, state.jobs()[job].best_rate, from.kind, from.key, gpus),
         .candidate = c});
  }
  keep_best();
  for (Valued& valued : valued_) {
    if (!valued.is_kept) continue;
    add_place(valued.offer, finder_.gpus(state, job, candidates_, valued.candidate));
  }
  return true;
}

bool Offers::add_place_of_rule(GpuClusterState& state, std::int32_t job, double best_rate,
                               int partition) {
  if (!rule_->find(state, job, partition, of_rule_)) return false;
  add_place(value(state, job, best_rate, of_rule_.kind, of_rule_.key, of_rule_.gpus),
            of_rule_.gpus);
  return true;
}

// The first jobs in line, each in its sizes. Line and sizes are as before when it returns.
bool Offers::find_sizes(GpuClusterState& state, int partition) {
  line_.clear();
  for (const GpuClusterState::Waiting& waiting : state.waiting(partition)) {
    line_.push_back(waiting.job);
    if (line_.size() == static_cast<std::size_t>(config_.jobs)) break;
  }
  bool any = false;
  for (const std::int32_t job : line_) any = add_sizes(state, job, partition) || any;
  return any;
}

bool Offers::add_sizes(GpuClusterState& state, std::int32_t job, int partition) {
  const GpuJob asked = state.jobs()[job];
  bool any = false;
  int sizes = 0;
  for (const std::int32_t shape : state.model().speeds().sizes(asked.type) | std::views::values) {
    if (++sizes > config_.sizes) break;
    state.resize(job, shape);
    any = add_place_of_rule(state, job, asked.best_rate, partition) || any;
  }
  state.resize(job, asked.shape);
  return any;
}

void Offers::add_place(Offer offer, std::span<const std::int32_t> gpus) {
  offer.first_gpu = gpus_.size();
  offer.num_gpus = gpus.size();
  gpus_.insert(gpus_.end(), gpus.begin(), gpus.end());
  offers_.push_back(offer);
}

// Candidates to be valued: of servers that are all idle and alike the first, and where there are
// many jobs to share with, those with the best joint speed.
void Offers::choose_partners(const GpuClusterState& state, std::int32_t job) {
  const GpuTopology& t = state.topology();
  const JobSpeeds& speeds = state.model().speeds();
  const std::int32_t type = state.jobs()[job].type;
  partners_.clear();
  std::uint64_t idle_types = 0;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    const GpuCandidate& candidate = candidates_[c];
    if (candidate.kind == GpuCandidate::Kind::kShared) {
      const std::int32_t gpu_type =
          t.gpu_type_of(t.server_of(state.layout(candidate.key).gpus.front()));
      const std::int32_t other = state.jobs()[candidate.key].type;
      partners_.emplace_back(
          -speeds.pair(gpu_type, type, other) - speeds.pair(gpu_type, other, type), c);
      continue;
    }
    if (candidate.kind == GpuCandidate::Kind::kOneServer &&
        state.idle_in_server(candidate.key) == t.per_server() &&
        t.gpu_type_of(candidate.key) < 64) {
      const std::uint64_t bit = std::uint64_t{1} << t.gpu_type_of(candidate.key);
      if ((idle_types & bit) != 0) continue;
      idle_types |= bit;
    }
    looked_at_.push_back(c);
  }
  const auto most = static_cast<std::size_t>(config_.places) * kPartnersPerPlace;
  if (partners_.size() > most) {
    std::ranges::nth_element(partners_, partners_.begin() + static_cast<std::ptrdiff_t>(most));
    partners_.resize(most);
  }
  for (const auto& [gain, c] : partners_) looked_at_.push_back(c);
  std::ranges::sort(looked_at_);
}

Offer Offers::value(GpuClusterState& state, std::int32_t job, double best_rate,
                    GpuCandidate::Kind kind, std::int32_t key, std::span<const std::int32_t> gpus) {
  Offer offer{.kind = kind_of(kind), .job = job, .shape = state.jobs()[job].shape};
  if (kind == GpuCandidate::Kind::kShared) offer.to = key;
  offer.rate = state.predict(job, gpus, disturbed_);
  const double left = state.left(job);
  const double lasts = left / offer.rate;
  offer.own_delay_s = lasts - left / best_rate;
  for (const DisturbedJob& other : disturbed_) {
    const double loss = 1 - other.after / other.before;
    offer.others_loss += loss;
    // Until one of the two is done.
    offer.others_delay_s += std::min(lasts, state.left(other.job) / other.after) * loss;
  }
  return offer;
}

// Those that delay least, its own delay and that of others together; one of each kind at least,
// as far as they are so many.
void Offers::keep_best() {
  const auto most = static_cast<std::size_t>(config_.places);
  by_delay_.resize(valued_.size());
  for (std::size_t i = 0; i < valued_.size(); ++i) by_delay_[i] = i;
  if (valued_.size() > most) {
    std::ranges::stable_sort(by_delay_, {}, [&](std::size_t i) {
      return rounded_score(valued_[i].offer.own_delay_s + valued_[i].offer.others_delay_s);
    });
    // The best of each kind before all others, as far as there is room.
    unsigned kinds = 0;
    auto behind = by_delay_.begin();
    for (auto it = by_delay_.begin(); it != by_delay_.end(); ++it) {
      const unsigned kind = 1U << static_cast<unsigned>(valued_[*it].offer.kind);
      if ((kinds & kind) != 0) continue;
      kinds |= kind;
      std::rotate(behind++, it, it + 1);
    }
    by_delay_.resize(most);
  }
  for (const std::size_t i : by_delay_) valued_[i].is_kept = true;
}

// Of the other schedulers with room, where here is none or GPUs are faster there, those with most
// idle GPUs for the size of their part.
bool Offers::add_forwards(const GpuClusterState& state, std::int32_t job, int partition) {
  const GpuClusterModel& model = state.model();
  const GpuJobShape& shape = model.speeds().shapes()[at(state.jobs()[job].shape)];
  const double here = has_room(state, job, partition) ? model.best_rate_in(partition, shape) : 0;
  with_room_.clear();
  for (int p = 0; p < model.config().partitions; ++p) {
    if (p == partition || model.best_rate_in(p, shape) <= here) continue;
    if (!has_room_yet(state, job, p)) continue;
    const std::int64_t servers = model.first_server(p + 1) - model.first_server(p);
    with_room_.emplace_back(-(state.free_servers(p).total() << 20) / servers, p);
  }
  std::ranges::sort(with_room_);
  if (with_room_.size() > static_cast<std::size_t>(config_.forwards)) {
    with_room_.resize(static_cast<std::size_t>(config_.forwards));
  }
  for (const auto& [idle, p] : with_room_) {
    offers_.push_back({.kind = Offer::Kind::kForward, .job = job, .to = p});
  }
  return !with_room_.empty();
}

// Of the other schedulers whose GPUs are faster for the job, the one whose line is the shortest for
// the size of its part.
bool Offers::add_upgrade(const GpuClusterState& state, std::int32_t job, int partition) {
  const GpuClusterModel& model = state.model();
  const GpuJobShape& shape = model.speeds().shapes()[at(state.jobs()[job].shape)];
  const double here = model.best_rate_in(partition, shape);
  int best = -1;
  double least = 0;
  for (int p = 0; p < model.config().partitions; ++p) {
    if (model.best_rate_in(p, shape) <= here || model.num_gpus(p) < state.jobs()[job].gpus) {
      continue;
    }
    const double wanted = static_cast<double>(state.gpus_wanted(p)) / model.num_gpus(p);
    if (best >= 0 && wanted >= least) continue;
    best = p;
    least = wanted;
  }
  if (best < 0) return false;
  offers_.push_back({.kind = Offer::Kind::kForward, .job = job, .to = best, .waits = true});
  return true;
}

}  // namespace pacml::env

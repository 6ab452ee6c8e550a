#include "env/gpu_cluster/gpu_cluster_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/check.h"

namespace pacml::env {
namespace {

void insert_sorted(std::vector<std::int32_t>& list, std::int32_t id) {
  list.insert(std::ranges::lower_bound(list, id), id);
}

void erase_sorted(std::vector<std::int32_t>& list, std::int32_t id) {
  list.erase(std::ranges::lower_bound(list, id));
}

bool is_later(const CompletionHeap::Entry& a, const CompletionHeap::Entry& b) {
  return b.before(a);
}

}  // namespace

double rounded_score(double v) { return std::floor(v * 1e9 + 0.5); }

GpuClusterState::GpuClusterState(GpuClusterModelPtr model, GpuJobListPtr jobs, QueueOrder order)
    : model_(std::move(model)),
      jobs_(std::move(jobs)),
      order_(order),
      progress_(jobs_->size()),
      schedulers_(at(model_->config().partitions)),
      running_of_type_(model_->speeds().types().size()),
      held_(jobs_->users().size()),
      occupancy_(model_),
      hosts_(std::vector<double>(at(topology().num_sockets()), model_->host_capacity())),
      links_(topology().capacities()),
      completions_(jobs_->size()),
      marked_(jobs_->size()) {
  for (std::size_t id = 0; id < jobs_->size(); ++id) {
    const GpuJob& job = (*jobs_)[static_cast<std::int32_t>(id)];
    progress_[id].left = job.steps;
    progress_[id].since = job.submit_s;
  }
}

double GpuClusterState::left(std::int32_t job) const {
  const GpuJobProgress& p = progress(job);
  return std::max(0.0, p.left - p.rate * (now_ - p.since));
}

double GpuClusterState::queue_score(std::int32_t job) const {
  if (order_ == QueueOrder::kFifo) return 0;
  return rounded_score(alone_s(job) * (order_ == QueueOrder::kSrsf ? jobs()[job].gpus : 1));
}

void GpuClusterState::count_handed(std::int32_t job, std::int64_t gpus) {
  if (!progress(job).holds_room) return;
  schedulers_[at(progress(job).partition)].gpus_handed += gpus;
}

void GpuClusterState::enqueue(std::int32_t job) {
  progress_[at(job)].status = GpuJobStatus::kWaiting;
  auto& line = schedulers_[at(progress(job).partition)].waiting;
  const Waiting entry{queue_score(job), jobs()[job].rank, job};
  line.insert(std::ranges::upper_bound(line, entry), entry);
  ++num_waiting_;
  count_handed(job, jobs()[job].gpus);
}

void GpuClusterState::dequeue(std::int32_t job) {
  PACML_CHECK(progress(job).status == GpuJobStatus::kWaiting, "the job does not wait");
  auto& line = schedulers_[at(progress(job).partition)].waiting;
  const auto it = std::ranges::lower_bound(line, Waiting{queue_score(job), jobs()[job].rank, job});
  PACML_CHECK(it != line.end() && it->job == job, "a waiting job stands in line");
  line.erase(it);
  --num_waiting_;
  count_handed(job, -std::int64_t{jobs()[job].gpus});
}

void GpuClusterState::count_active(int partition, int change) {
  schedulers_[at(partition)].active.change(now_, change);
}

void GpuClusterState::set_rate(std::int32_t job, double rate) {
  GpuJobProgress& p = progress_[at(job)];
  schedulers_[at(p.partition)].speed.change(now_, (rate - p.rate) / jobs()[job].best_rate);
  p.rate = rate;
}

void GpuClusterState::arrive(std::int32_t job, int partition) {
  progress_[at(job)].partition = partition;
  count_active(partition, 1);
  schedulers_[at(partition)].gpus_wanted += jobs()[job].gpus;
  enqueue(job);
}

// Copies share the list until one of them changes it.
void GpuClusterState::set_shape(std::int32_t job, std::int32_t shape) {
  constexpr int kOurs = 2;  // jobs_ and resized_
  if (resized_ == nullptr || resized_.use_count() > kOurs) {
    resized_ = std::make_shared<GpuJobList>(*jobs_);
    jobs_ = resized_;
  }
  resized_->set_shape(*model_, job, shape);
}

void GpuClusterState::resize(std::int32_t job, std::int32_t shape) {
  if (jobs()[job].shape == shape) return;
  std::int64_t& wanted = schedulers_[at(progress(job).partition)].gpus_wanted;
  dequeue(job);
  wanted -= jobs()[job].gpus;
  set_shape(job, shape);
  wanted += jobs()[job].gpus;
  enqueue(job);
}

void GpuClusterState::forward(std::int32_t job, int partition, bool holds_room) {
  dequeue(job);
  schedulers_[at(progress(job).partition)].gpus_wanted -= jobs()[job].gpus;
  schedulers_[at(partition)].gpus_wanted += jobs()[job].gpus;
  count_active(progress(job).partition, -1);
  count_active(partition, 1);
  progress_[at(job)].partition = partition;
  progress_[at(job)].forwarded = now_;
  ++progress_[at(job)].handovers;
  progress_[at(job)].holds_room = holds_room;
  enqueue(job);
}

void GpuClusterState::advance(double time_s) {
  PACML_CHECK(time_s >= now_, "time goes on");
  const double dt = time_s - now_;
  const std::int64_t idle = free_servers(kWholeCluster).total();
  busy_gpu_s_ += dt * static_cast<double>(topology().num_gpus() - idle);
  active_job_s_ += dt * static_cast<double>(running_.size() + num_waiting_);
  now_ = time_s;
}

// What a job on these GPUs takes: with the slowest of their types, and with the rest of its time
// on the network where nothing disturbs it.
void GpuClusterState::lay_out(std::int32_t job, std::span<const std::int32_t> gpus,
                              GpuLayout& out) {
  const GpuTopology& t = topology();
  const GpuJob& of = jobs()[job];
  const GpuJobShape& shape = model_->speeds().shapes()[at(of.shape)];
  out.gpus.assign(gpus.begin(), gpus.end());
  out.sockets.clear();
  out.pair = 1;
  out.alone = 0;
  servers_.clear();
  std::int32_t slowest = -1;
  for (const std::int32_t g : gpus) {
    const std::int32_t server = t.server_of(g);
    const std::int32_t gpu_type = t.gpu_type_of(server);
    if (servers_.empty() || servers_.back() != server) {
      servers_.push_back(server);
      if (slowest < 0 || std::pair(shape.together[at(gpu_type)], gpu_type) <
                             std::pair(shape.together[at(slowest)], slowest)) {
        slowest = gpu_type;
      }
    }
    const std::int32_t socket = t.socket_of(g);
    if (out.sockets.empty() || out.sockets.back().on != socket) out.sockets.push_back({socket});
    out.sockets.back().load += 1;  // GPUs, for now
    const std::int32_t other = resident(g, 0);
    if (other < 0) {
      ++out.alone;
    } else {
      out.pair = std::min(out.pair, model_->speeds().pair(gpu_type, of.type, jobs()[other].type));
    }
  }
  for (GpuLayout::Share& share : out.sockets) share.load *= shape.host_load;
  const GpuLevel level = t.level(gpus.front(), gpus.back());
  out.compute_s = shape.compute_s[at(slowest)];
  out.network_s =
      shape.network_s[at(slowest)] * model_->config().kappa[static_cast<std::size_t>(level)];
  out.links.clear();
  if (servers_.size() == 1) return;
  const double share = out.network_s / (out.compute_s + out.network_s);
  t.links(servers_, of.comm, weights_);
  for (const LinkWeight& w : weights_) out.links.push_back({w.link, share * w.weight});
}

double GpuClusterState::rate_of(const GpuLayout& layout) const {
  double host = 1;
  double network = 1;
  for (const GpuLayout::Share& s : layout.sockets) host = std::max(host, hosts_.factor(s.on));
  for (const GpuLayout::Share& l : layout.links) network = std::max(network, links_.factor(l.on));
  return 1.0 / (layout.compute_s * host / layout.pair + layout.network_s * network);
}

double GpuClusterState::rate_of(std::int32_t job) const {
  return now_ < progress(job).thaw ? 0.0 : rate_of(layout(job));
}

double GpuClusterState::pair_of(std::int32_t job) const {
  const GpuTopology& t = topology();
  double pair = 1;
  for (const std::int32_t g : layout(job).gpus) {
    if (resident(g, 1) < 0) continue;
    const std::int32_t other = resident(g, resident(g, 0) == job ? 1 : 0);
    pair = std::min(pair, model_->speeds().pair(t.gpu_type_of(t.server_of(g)), jobs()[job].type,
                                                jobs()[other].type));
  }
  return pair;
}

void GpuClusterState::mark_users(const Contention& of, std::int32_t on) {
  for (const Contention::User& user : of.users(on)) marked_.insert(user.job);
}

// Of those that somebody has come to, or left.
void GpuClusterState::pair_marked() {
  for (const std::int32_t job : marked_.jobs()) layout_of(job).pair = pair_of(job);
}

// Jobs are touched only where the load slows them down otherwise than before.
void GpuClusterState::put_loads(std::int32_t job, const GpuLayout& layout) {
  for (const auto& s : layout.sockets) {
    if (hosts_.put(s.on, job, s.load)) mark_users(hosts_, s.on);
  }
  for (const auto& l : layout.links) {
    if (links_.put(l.on, job, l.load)) mark_users(links_, l.on);
  }
}

void GpuClusterState::take_loads(std::int32_t job, const GpuLayout& layout) {
  for (const auto& s : layout.sockets) {
    if (hosts_.take(s.on, job)) mark_users(hosts_, s.on);
  }
  for (const auto& l : layout.links) {
    if (links_.take(l.on, job)) mark_users(links_, l.on);
  }
}

void GpuClusterState::settle(std::int32_t job) {
  GpuJobProgress& p = progress_[at(job)];
  const double steps = left(job);
  schedulers_[at(p.partition)].done += (p.left - steps) / jobs()[job].steps;
  p.left = steps;
  p.since = now_;
}

void GpuClusterState::rebase_marked() {
  for (const std::int32_t job : marked_.sorted()) {
    GpuJobProgress& p = progress_[at(job)];
    const double rate = rate_of(job);
    if (rate == p.rate) continue;
    settle(job);
    set_rate(job, rate);
    if (rate > 0) {
      completions_.set(job, now_ + p.left / rate);
    } else {
      completions_.remove(job);
    }
  }
}

void GpuClusterState::place(std::int32_t job, std::span<const std::int32_t> gpus) {
  PACML_CHECK(gpus.size() == at(jobs()[job].gpus), "a job has the GPUs that it wants");
  dequeue(job);
  GpuJobProgress& p = progress_[at(job)];
  if (empty_slots_.empty()) {
    empty_slots_.push_back(static_cast<std::int32_t>(slots_.size()));
    slots_.emplace_back();
  }
  p.slot = empty_slots_.back();
  empty_slots_.pop_back();
  GpuLayout& layout = slots_[at(p.slot)];
  lay_out(job, gpus, layout);

  marked_.clear();
  occupancy_.put(job, layout.gpus, [this](std::int32_t other) {
    --layout_of(other).alone;
    marked_.insert(other);
  });
  pair_marked();
  marked_.insert(job);
  put_loads(job, layout);
  insert_sorted(running_, job);
  insert_sorted(running_of_type_[at(jobs()[job].type)], job);
  held_[at(jobs()[job].user)] += jobs()[job].gpus;

  p.status = GpuJobStatus::kRunning;
  p.since = now_;
  if (p.start == GpuJobProgress::kNever) p.start = now_;
  if (const double cost = model_->config().restart_cost_s; p.preemptions > 0 && cost > 0) {
    p.thaw = now_ + cost;
    thaws_.push_back({p.thaw, job});
    std::ranges::push_heap(thaws_, is_later);
  }
  rebase_marked();
  ++num_placements_;
  if (recorder_ != nullptr) record_placement(job);
}

void GpuClusterState::record_placement(std::int32_t job) {
  const GpuLayout& of = layout(job);
  marked_.clear();
  for (const auto& s : of.sockets) mark_users(hosts_, s.on);
  for (const auto& l : of.links) mark_users(links_, l.on);
  GpuDecision decision{.time_s = now_, .job = job, .gpus = of.gpus};
  for (const std::int32_t id : marked_.sorted()) {
    decision.rates.emplace_back(id, progress(id).rate);
  }
  record(std::move(decision));
}

void GpuClusterState::release(std::int32_t job) {
  PACML_CHECK(progress(job).status == GpuJobStatus::kRunning, "the job does not run");
  GpuJobProgress& p = progress_[at(job)];
  const GpuLayout& layout = slots_[at(p.slot)];
  marked_.clear();
  occupancy_.take(job, layout.gpus, [this](std::int32_t other) {
    ++layout_of(other).alone;
    marked_.insert(other);
  });
  pair_marked();
  take_loads(job, layout);
  erase_sorted(running_, job);
  erase_sorted(running_of_type_[at(jobs()[job].type)], job);
  held_[at(jobs()[job].user)] -= jobs()[job].gpus;
  empty_slots_.push_back(p.slot);
  p.slot = -1;
  set_rate(job, 0);
  p.thaw = 0;
  completions_.remove(job);
  rebase_marked();
}

void GpuClusterState::preempt(std::int32_t job) {
  settle(job);
  const std::int32_t preemptions = ++progress_[at(job)].preemptions;
  release(job);
  enqueue(job);
  record({.time_s = now_,
          .job = job,
          .kind = GpuDecision::Kind::kPreempted,
          .preemptions = preemptions});
}

void GpuClusterState::finish(std::int32_t job) {
  GpuJobProgress& p = progress_[at(job)];
  schedulers_[at(p.partition)].done += p.left / jobs()[job].steps;
  p.left = 0;
  end(job, now_);
}

void GpuClusterState::end(std::int32_t job, double finish_s) {
  progress_[at(job)].finish = finish_s;
  schedulers_[at(progress(job).partition)].gpus_wanted -= jobs()[job].gpus;
  count_active(progress(job).partition, -1);
  release(job);
  progress_[at(job)].status =
      finish_s == GpuJobProgress::kNever ? GpuJobStatus::kLost : GpuJobStatus::kFinished;
}

void GpuClusterState::replace_future(GpuJobListPtr jobs) {
  PACML_CHECK(jobs->size() == jobs_->size(), "the future has as many jobs");
  const GpuJobListPtr former = std::exchange(jobs_, std::move(jobs));
  resized_.reset();
  for (std::size_t id = 0; id < jobs_->size(); ++id) {
    const GpuJob& job = (*jobs_)[static_cast<std::int32_t>(id)];
    if (progress_[id].status != GpuJobStatus::kAhead) {
      PACML_CHECK(job.rank == (*former)[static_cast<std::int32_t>(id)].rank,
                  "who has arrived keeps the place among the arrivals");
      const std::int32_t shape = (*former)[static_cast<std::int32_t>(id)].shape;
      if (job.shape != shape) set_shape(static_cast<std::int32_t>(id), shape);
      continue;
    }
    PACML_CHECK(job.submit_s >= now(), "what comes arrives from now on");
    progress_[id].left = job.steps;
    progress_[id].since = job.submit_s;
  }
  // Users are numbered by those of the list.
  held_.assign(jobs_->users().size(), 0);
  for (const std::int32_t job : running_) {
    held_[at(this->jobs()[job].user)] += this->jobs()[job].gpus;
  }
}

void GpuClusterState::set_queue_order(QueueOrder order) {
  order_ = order;
  for (Scheduler& scheduler : schedulers_) {
    for (Waiting& waiting : scheduler.waiting) waiting.score = queue_score(waiting.job);
    std::ranges::sort(scheduler.waiting);
  }
}

void GpuClusterState::thaw(std::int32_t job) {
  marked_.clear();
  marked_.insert(job);
  rebase_marked();
}

std::int32_t GpuClusterState::take_thaw() {
  const CompletionHeap::Entry first = thaws_.front();
  std::ranges::pop_heap(thaws_, is_later);
  thaws_.pop_back();
  const GpuJobProgress& p = progress(first.job);
  return p.status == GpuJobStatus::kRunning && p.thaw == first.time ? first.job : -1;
}

double GpuClusterState::progress_now(int partition) const {
  double running = 0;
  for (const std::int32_t job : running_) {
    if (progress(job).partition != partition) continue;
    running += (progress(job).left - left(job)) / jobs()[job].steps;
  }
  return settled_progress(partition) + running;
}

// Factors become what they would be with the job there, and whoever is concerned is marked.
void GpuClusterState::suppose_beside(std::int32_t job, std::span<const std::int32_t> gpus) {
  for (const auto& s : planned_.sockets) {
    if (hosts_.suppose(s.on, job, s.load)) mark_users(hosts_, s.on);
  }
  for (const auto& l : planned_.links) {
    if (links_.suppose(l.on, job, l.load)) mark_users(links_, l.on);
  }
  if (planned_.alone == static_cast<std::int32_t>(gpus.size())) return;
  const GpuTopology& t = topology();
  for (const std::int32_t g : gpus) {
    const std::int32_t other = resident(g, 0);
    if (other < 0) continue;
    marked_.insert(other);
    const double pair =
        model_->speeds().pair(t.gpu_type_of(t.server_of(g)), jobs()[other].type, jobs()[job].type);
    GpuLayout& theirs = layout_of(other);
    if (pair >= theirs.pair) continue;
    replaced_pairs_.push_back({other, std::exchange(theirs.pair, pair)});
  }
}

void GpuClusterState::withdraw_supposed() {
  hosts_.withdraw();
  links_.withdraw();
  while (!replaced_pairs_.empty()) {  // backwards: a job may have been changed twice
    layout_of(replaced_pairs_.back().job).pair = replaced_pairs_.back().pair;
    replaced_pairs_.pop_back();
  }
}

double GpuClusterState::predict(std::int32_t job, std::span<const std::int32_t> gpus,
                                std::vector<DisturbedJob>& disturbed) {
  lay_out(job, gpus, planned_);
  marked_.clear();
  suppose_beside(job, gpus);
  const double own = rate_of(planned_);
  disturbed.clear();
  for (const std::int32_t other : marked_.sorted()) {
    const double before = progress(other).rate;
    if (before == 0) continue;  // it stands still
    const double after = rate_of(layout(other));
    if (after != before) disturbed.push_back({other, before, after});
  }
  withdraw_supposed();
  return own;
}

}  // namespace pacml::env

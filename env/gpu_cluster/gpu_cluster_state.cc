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

template <class Loads>
double sum_of(const Loads& loads) {
  double sum = 0;
  for (const auto& entry : loads) sum += entry.load;
  return sum;
}

// The sum with one more among them, in the order of jobs.
template <class Loads>
double sum_with(const Loads& loads, std::int32_t job, double load) {
  double sum = 0;
  bool is_in = false;
  for (const auto& entry : loads) {
    if (!is_in && entry.job > job) {
      sum += load;
      is_in = true;
    }
    sum += entry.load;
  }
  return is_in ? sum : sum + load;
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
      completions_(jobs_->size()),
      mark_of_(jobs_->size()) {
  const GpuTopology& t = topology();
  const int partitions = model_->config().partitions;
  waiting_.resize(static_cast<std::size_t>(partitions));
  done_.resize(static_cast<std::size_t>(partitions));
  wanted_.resize(static_cast<std::size_t>(partitions));
  active_.resize(static_cast<std::size_t>(partitions));
  held_.resize(jobs_->users().size());
  running_of_type_.resize(model_->speeds().types().size());
  residents_.assign(2 * at(t.num_gpus()), -1);
  idle_in_group_.assign(at(t.num_groups()), t.per_group());
  idle_in_socket_.assign(at(t.num_sockets()), t.per_socket());
  idle_in_server_.assign(at(t.num_servers()), t.per_server());
  for (int p = 0; p < partitions; ++p) {
    free_.emplace_back(model_->first_server(p), model_->first_server(p + 1), t.per_server());
  }
  if (partitions > 1) free_.emplace_back(0, t.num_servers(), t.per_server());
  versions_.resize(free_.size());
  on_socket_.resize(at(t.num_sockets()));
  host_load_.resize(on_socket_.size());
  host_factor_.assign(on_socket_.size(), 1.0);
  on_link_.resize(t.num_links());
  link_load_.resize(on_link_.size());
  link_factor_.assign(on_link_.size(), 1.0);
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
  const GpuJob& of = jobs()[job];
  return rounded_score(left(job) / of.best_rate * (order_ == QueueOrder::kSrsf ? of.gpus : 1));
}

void GpuClusterState::enqueue(std::int32_t job) {
  progress_[at(job)].status = GpuJobStatus::kWaiting;
  auto& line = waiting_[at(progress(job).partition)];
  const Waiting entry{queue_score(job), jobs()[job].rank, job};
  line.insert(std::ranges::upper_bound(line, entry), entry);
  ++num_waiting_;
}

void GpuClusterState::dequeue(std::int32_t job) {
  PACML_CHECK(progress(job).status == GpuJobStatus::kWaiting, "the job does not wait");
  auto& line = waiting_[at(progress(job).partition)];
  const auto it = std::ranges::lower_bound(line, Waiting{queue_score(job), jobs()[job].rank, job});
  PACML_CHECK(it != line.end() && it->job == job, "a waiting job stands in line");
  line.erase(it);
  --num_waiting_;
}

void GpuClusterState::count_active(int partition, int change) {
  Active& active = active_[static_cast<std::size_t>(partition)];
  active.job_s += static_cast<double>(active.jobs) * (now_ - active.since);
  active.since = now_;
  active.jobs += change;
}

void GpuClusterState::arrive(std::int32_t job, int partition) {
  progress_[at(job)].partition = partition;
  count_active(partition, 1);
  wanted_[at(partition)] += jobs()[job].gpus;
  enqueue(job);
}

void GpuClusterState::forward(std::int32_t job, int partition) {
  dequeue(job);
  wanted_[at(progress(job).partition)] -= jobs()[job].gpus;
  wanted_[at(partition)] += jobs()[job].gpus;
  count_active(progress(job).partition, -1);
  count_active(partition, 1);
  progress_[at(job)].partition = partition;
  progress_[at(job)].forwarded = now_;
  enqueue(job);
}

void GpuClusterState::advance(double time_s) {
  PACML_CHECK(time_s >= now_, "time goes on");
  const double dt = time_s - now_;
  const std::int64_t idle = free_.back().total();
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
  for (const GpuLayout::Share& s : layout.sockets) host = std::max(host, host_factor_[at(s.on)]);
  for (const GpuLayout::Share& l : layout.links)
    network = std::max(network, link_factor_[at(l.on)]);
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

void GpuClusterState::mark(std::int32_t job) {
  if (mark_of_[at(job)] == marks_) return;
  mark_of_[at(job)] = marks_;
  marked_.push_back(job);
}

void GpuClusterState::mark_all(const std::vector<Load>& loads) {
  for (const Load& load : loads) mark(load.job);
}

// Jobs are touched only where the load slows them down otherwise than before.
void GpuClusterState::set_host_load(std::int32_t socket, double load) {
  host_load_[at(socket)] = load;
  const double factor = std::max(1.0, load / model_->host_capacity());
  if (std::exchange(host_factor_[at(socket)], factor) != factor) mark_all(on_socket_[at(socket)]);
}

void GpuClusterState::set_link_load(std::int32_t link, double load) {
  link_load_[at(link)] = load;
  const double factor = std::max(1.0, load / topology().capacity(link));
  if (std::exchange(link_factor_[at(link)], factor) != factor) mark_all(on_link_[at(link)]);
}

void GpuClusterState::put_loads(std::int32_t job, const GpuLayout& layout) {
  const auto put = [&](std::vector<Load>& loads, double load) {
    loads.insert(std::ranges::lower_bound(loads, job, {}, &Load::job), {job, load});
    return sum_of(loads);
  };
  for (const auto& s : layout.sockets) set_host_load(s.on, put(on_socket_[at(s.on)], s.load));
  for (const auto& l : layout.links) set_link_load(l.on, put(on_link_[at(l.on)], l.load));
}

void GpuClusterState::take_loads(std::int32_t job, const GpuLayout& layout) {
  const auto take = [&](std::vector<Load>& loads) {
    loads.erase(std::ranges::lower_bound(loads, job, {}, &Load::job));
    return sum_of(loads);
  };
  for (const auto& s : layout.sockets) set_host_load(s.on, take(on_socket_[at(s.on)]));
  for (const auto& l : layout.links) set_link_load(l.on, take(on_link_[at(l.on)]));
}

void GpuClusterState::set_idle(std::int32_t gpu, int change) {
  const GpuTopology& t = topology();
  const std::int32_t server = t.server_of(gpu);
  idle_in_group_[at(t.group_of(gpu))] += change;
  idle_in_socket_[at(t.socket_of(gpu))] += change;
  const std::int32_t before = idle_in_server_[at(server)];
  idle_in_server_[at(server)] += change;
  free_[at(model_->partition_of(server))].move(server, before, before + change);
  if (free_.size() > 1) free_.back().move(server, before, before + change);
}

void GpuClusterState::count_versions(const GpuLayout& layout) {
  int last = -1;
  for (const std::int32_t g : layout.gpus) {
    const int partition = model_->partition_of(topology().server_of(g));
    if (partition == last) continue;
    ++versions_[at(partition)];
    last = partition;
  }
  if (free_.size() > 1) ++versions_.back();
}

void GpuClusterState::occupy(std::int32_t job, const GpuLayout& layout) {
  for (const std::int32_t g : layout.gpus) {
    std::int32_t* residents = &residents_[2 * at(g)];
    if (residents[0] < 0) {
      residents[0] = job;
      set_idle(g, -1);
      continue;
    }
    PACML_CHECK(residents[1] < 0 && model_->config().share > 1, "a GPU has room for the job");
    residents[1] = job;
    --slots_[at(progress(residents[0]).slot)].alone;
    mark(residents[0]);
  }
}

void GpuClusterState::vacate(std::int32_t job, const GpuLayout& layout) {
  for (const std::int32_t g : layout.gpus) {
    std::int32_t* residents = &residents_[2 * at(g)];
    if (residents[0] == job) residents[0] = std::exchange(residents[1], -1);
    residents[1] = -1;
    if (residents[0] < 0) {
      set_idle(g, 1);
    } else {
      ++slots_[at(progress(residents[0]).slot)].alone;
      mark(residents[0]);
    }
  }
}

void GpuClusterState::settle(std::int32_t job) {
  GpuJobProgress& p = progress_[at(job)];
  const double steps = left(job);
  done_[at(p.partition)] += (p.left - steps) / jobs()[job].steps;
  p.left = steps;
  p.since = now_;
}

void GpuClusterState::rebase_marked() {
  std::ranges::sort(marked_);
  for (const std::int32_t job : marked_) {
    GpuJobProgress& p = progress_[at(job)];
    const double rate = rate_of(job);
    if (rate == p.rate) continue;
    settle(job);
    p.rate = rate;
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

  ++marks_;
  marked_.clear();
  occupy(job, layout);
  for (const std::int32_t other : marked_) slots_[at(progress(other).slot)].pair = pair_of(other);
  mark(job);
  put_loads(job, layout);
  count_versions(layout);
  insert_sorted(running_, job);
  insert_sorted(running_of_type_[at(jobs()[job].type)], job);
  held_[at(jobs()[job].user)] += jobs()[job].gpus;

  p.status = GpuJobStatus::kRunning;
  p.since = now_;
  p.rate = 0;
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
  ++marks_;
  marked_.clear();
  for (const auto& s : of.sockets) mark_all(on_socket_[at(s.on)]);
  for (const auto& l : of.links) mark_all(on_link_[at(l.on)]);
  std::ranges::sort(marked_);
  GpuDecision decision{.time_s = now_, .job = job, .gpus = of.gpus};
  for (const std::int32_t id : marked_) decision.rates.emplace_back(id, progress(id).rate);
  record(std::move(decision));
}

void GpuClusterState::release(std::int32_t job) {
  PACML_CHECK(progress(job).status == GpuJobStatus::kRunning, "the job does not run");
  GpuJobProgress& p = progress_[at(job)];
  const GpuLayout& layout = slots_[at(p.slot)];
  ++marks_;
  marked_.clear();
  vacate(job, layout);
  for (const std::int32_t other : marked_) slots_[at(progress(other).slot)].pair = pair_of(other);
  take_loads(job, layout);
  count_versions(layout);
  erase_sorted(running_, job);
  erase_sorted(running_of_type_[at(jobs()[job].type)], job);
  held_[at(jobs()[job].user)] -= jobs()[job].gpus;
  empty_slots_.push_back(p.slot);
  p.slot = -1;
  p.rate = 0;
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
  done_[at(p.partition)] += p.left / jobs()[job].steps;
  p.left = 0;
  end(job, now_);
}

void GpuClusterState::end(std::int32_t job, double finish_s) {
  progress_[at(job)].finish = finish_s;
  wanted_[at(progress(job).partition)] -= jobs()[job].gpus;
  count_active(progress(job).partition, -1);
  release(job);
  progress_[at(job)].status =
      finish_s == GpuJobProgress::kNever ? GpuJobStatus::kLost : GpuJobStatus::kFinished;
}

void GpuClusterState::replace_future(GpuJobListPtr jobs) {
  PACML_CHECK(jobs->size() == jobs_->size(), "the future has as many jobs");
  const GpuJobListPtr former = std::exchange(jobs_, std::move(jobs));
  for (std::size_t id = 0; id < jobs_->size(); ++id) {
    const GpuJob& job = (*jobs_)[static_cast<std::int32_t>(id)];
    if (progress_[id].status != GpuJobStatus::kAhead) {
      PACML_CHECK(job.rank == (*former)[static_cast<std::int32_t>(id)].rank,
                  "who has arrived keeps the place among the arrivals");
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
  for (std::deque<Waiting>& line : waiting_) {
    for (Waiting& waiting : line) waiting.score = queue_score(waiting.job);
    std::ranges::sort(line);
  }
}

void GpuClusterState::thaw(std::int32_t job) {
  marked_.assign(1, job);
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
  return done_[static_cast<std::size_t>(partition)] + running;
}

// The factors of what it would be on are changed, and changed back.
double GpuClusterState::predict(std::int32_t job, std::span<const std::int32_t> gpus,
                                std::vector<DisturbedJob>& disturbed) {
  lay_out(job, gpus, planned_);
  ++marks_;
  marked_.clear();
  saved_sockets_.clear();
  saved_links_.clear();
  saved_pairs_.clear();
  const GpuTopology& t = topology();
  for (const auto& s : planned_.sockets) {
    const double load = sum_with(on_socket_[at(s.on)], job, s.load);
    const double factor = std::max(1.0, load / model_->host_capacity());
    if (factor == host_factor_[at(s.on)]) continue;
    saved_sockets_.push_back({s.on, std::exchange(host_factor_[at(s.on)], factor)});
    mark_all(on_socket_[at(s.on)]);
  }
  for (const auto& l : planned_.links) {
    const double load = sum_with(on_link_[at(l.on)], job, l.load);
    const double factor = std::max(1.0, load / t.capacity(l.on));
    if (factor == link_factor_[at(l.on)]) continue;
    saved_links_.push_back({l.on, std::exchange(link_factor_[at(l.on)], factor)});
    mark_all(on_link_[at(l.on)]);
  }
  if (planned_.alone < static_cast<std::int32_t>(gpus.size())) {
    for (const std::int32_t g : gpus) {
      const std::int32_t other = resident(g, 0);
      if (other < 0) continue;
      mark(other);
      GpuLayout& theirs = slots_[at(progress(other).slot)];
      const double pair = model_->speeds().pair(t.gpu_type_of(t.server_of(g)), jobs()[other].type,
                                                jobs()[job].type);
      if (pair >= theirs.pair) continue;
      saved_pairs_.push_back({other, std::exchange(theirs.pair, pair)});
    }
  }
  const double own = rate_of(planned_);
  disturbed.clear();
  std::ranges::sort(marked_);
  for (const std::int32_t other : marked_) {
    const double before = progress(other).rate;
    if (before == 0) continue;  // it stands still
    const double after = rate_of(layout(other));
    if (after != before) disturbed.push_back({other, before, after});
  }
  for (const Saved& s : saved_sockets_) host_factor_[at(s.on)] = s.factor;
  for (const Saved& l : saved_links_) link_factor_[at(l.on)] = l.factor;
  while (!saved_pairs_.empty()) {  // backwards: a job may have been changed twice
    slots_[at(progress(saved_pairs_.back().on).slot)].pair = saved_pairs_.back().factor;
    saved_pairs_.pop_back();
  }
  return own;
}

}  // namespace pacml::env

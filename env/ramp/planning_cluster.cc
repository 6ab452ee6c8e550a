#include "env/ramp/planning_cluster.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/check.h"
#include "env/ramp/cluster_clock.h"

namespace pacml::env {

bool PlanningCluster::follows(const ClusterConfig& config) {
  // With kModelDegree the episode's earlier lookaheads count.
  return config.lookahead_cache != LookaheadCache::kModelDegree;
}

PlanningCluster::PlanningCluster(const Cluster& cluster, std::shared_ptr<FutureJobs> future)
    : memo_(cluster.shared_memo()),
      future_(std::move(future)),
      num_training_steps_(cluster.num_training_steps()),
      now_(cluster.now()),
      limit_(cluster.config().max_simulation_time),
      queued_(cluster.waiting_job()),
      last_index_(queued_->index),
      next_(future_->at(0)),
      occupied_(cluster.occupied()),
      mounted_workers_at_tick_(cluster.mounted_workers()) {
  PACML_CHECK(follows(cluster.config()), "a cluster that can be imagined");
  const std::size_t words = occupied_.words().size();
  constexpr std::size_t kRoom = 4;  // for those that are mounted
  running_.reserve(cluster.running().size() + kRoom);
  servers_.reserve((cluster.running().size() + kRoom) * words);
  for (const MountedJob& job : cluster.running()) {
    mount({job.completion_time, job.started, job.started + job.completion_time,
           job.execution->num_servers},
          job.execution->servers);
  }
}

const Job& PlanningCluster::waiting_job() const {
  PACML_CHECK(queued_.has_value(), "no job waits");
  return *queued_;
}

ClusterSight::RunningJob PlanningCluster::running_job(std::size_t i) const {
  const std::size_t words = occupied_.words().size();
  return {remaining_time(running_[i].completion_time, running_[i].started, now_),
          std::span(servers_).subspan(i * words, words)};
}

int PlanningCluster::mounted_workers() const {
  return memo_->setting().semantics.fresh_occupancy ? mounted_workers_ : mounted_workers_at_tick_;
}

const Execution* PlanningCluster::place(const JobDecision& decision) const {
  return memo_->place_that_fits(queued_->model, decision.degree, occupied_, decision.block).get();
}

PlanningCluster::RunTimes PlanningCluster::run_times(const Execution& execution) const {
  const double sequential = execution.total_compute * num_training_steps_;
  return {memo_->step_time(execution) * num_training_steps_, sequential,
          queued_->fraction * sequential};
}

ClusterSight::Outlook PlanningCluster::outlook(const JobDecision& decision) const {
  PACML_CHECK(queued_.has_value(), "no job waits");
  if (decision.degree == 0) return {BlockCause::kOpPartition};
  const Execution* const execution = place(decision);
  if (execution == nullptr) return {BlockCause::kOpPlacement};
  const SemanticSwitches& semantics = memo_->setting().semantics;
  const RunTimes times = run_times(*execution);
  BlockCause cause = BlockCause::kNone;
  if (!meets_limit(times.completion, times.max_acceptable, semantics)) {
    cause = BlockCause::kCompletionTime;
  } else if (is_cut_off(times.completion, now_, limit_, semantics)) {
    cause = BlockCause::kSimulationEnded;
  }
  return {cause, execution->number};
}

PlanningCluster::Outcome PlanningCluster::decide(const JobDecision& decision) {
  PACML_CHECK(queued_.has_value(), "no job waits for a decision");
  Outcome out{.cause = BlockCause::kOpPartition};
  if (decision.degree > 0) {
    out.cause = BlockCause::kOpPlacement;
    if (const Execution* const execution = place(decision)) {
      const RunTimes times = run_times(*execution);
      out.completion_time = times.completion;
      out.sequential_time = times.sequential;
      const bool in_time =
          meets_limit(times.completion, times.max_acceptable, memo_->setting().semantics);
      out.cause = in_time ? BlockCause::kNone : BlockCause::kCompletionTime;
      if (out.cause == BlockCause::kNone) {
        mount({out.completion_time, now_, now_ + out.completion_time, execution->num_servers},
              execution->servers);
      }
    }
  }
  queued_.reset();
  const double decided = now_;
  while (!tick()) {
  }
  // The episode ended within this step, while the job ran: it is booked as blocked. One that began
  // at the same time and takes as long runs as long as it does.
  const auto is_it = [&](const Running& job) {
    return job.started == decided && job.completion_time == out.completion_time;
  };
  if (out.cause == BlockCause::kNone && finished() &&
      !memo_->setting().semantics.running_at_end_is_not_blocked &&
      std::ranges::any_of(running_, is_it)) {
    out.cause = BlockCause::kSimulationEnded;
  }
  while (!queued_ && !finished()) tick();
  return out;
}

void PlanningCluster::pass_limit() {
  limit_ = kEndOfTime;
  while (!queued_ && !finished()) tick();
}

void PlanningCluster::resample_future(Seed seed) {
  future_ = std::make_shared<FutureJobs>(future_->redrawn(arrived_, seed, waiting_job().arrived));
  arrived_ = 0;
  next_ = future_->at(0);
}

void PlanningCluster::mount(const Running& job, const ServerSet& servers) {
  const auto words = servers.words();
  std::size_t place = running_.size();
  running_.emplace_back();
  servers_.resize(servers_.size() + words.size());
  for (; place > 0 && running_[place - 1].done_at < job.done_at; --place) {
    running_[place] = running_[place - 1];
    move_servers(place - 1, place);
  }
  running_[place] = job;
  std::ranges::copy(words, servers_.begin() + static_cast<std::ptrdiff_t>(place * words.size()));
  occupied_.insert(servers);
  mounted_workers_ += job.num_servers;
}

void PlanningCluster::move_servers(std::size_t from, std::size_t to) {
  const std::size_t words = occupied_.words().size();
  for (std::size_t w = 0; w < words; ++w) servers_[to * words + w] = servers_[from * words + w];
}

std::size_t PlanningCluster::first_done_by(double time) const {
  // Sums and differences of times up to this one are off by less.
  const double late = time + 16 * std::numeric_limits<double>::epsilon() * time;
  std::size_t first = running_.size();
  while (first > 0 && running_[first - 1].done_at <= late) --first;
  return first;
}

double PlanningCluster::time_to_next_event() const {
  double least = std::min(next_.time - now_, limit_ - now_);
  if (!running_.empty()) {
    for (std::size_t i = first_done_by(running_.back().done_at); i < running_.size(); ++i) {
      const Running& job = running_[i];
      least = std::min(least, remaining_time(job.completion_time, job.started, now_));
    }
  }
  return least == kEndOfTime ? 0 : least;  // nothing is left to wait for
}

bool PlanningCluster::tick() {
  const double length = time_to_next_event();
  mounted_workers_at_tick_ = mounted_workers_;
  now_ = time_after(now_, length);
  bool happened = complete();
  if (is_due(next_.time, now_)) {
    arrive();
    happened = true;
  }
  return happened || finished();
}

bool PlanningCluster::complete() {
  const std::size_t words = occupied_.words().size();
  std::size_t kept = first_done_by(now_ + 2 * kClockTolerance);
  if (kept == running_.size()) return false;
  for (std::size_t i = kept; i < running_.size(); ++i) {
    const auto servers = std::span(servers_).subspan(i * words, words);
    if (is_done(remaining_time(running_[i].completion_time, running_[i].started, now_))) {
      occupied_.erase(servers);
      mounted_workers_ -= running_[i].num_servers;
      continue;
    }
    running_[kept] = running_[i];
    move_servers(i, kept++);
  }
  const bool any = kept < running_.size();
  running_.resize(kept);
  servers_.resize(kept * words);
  return any;
}

void PlanningCluster::arrive() {
  memo_->forget_when_full();
  const JobGraph& graph = *memo_->graphs()[static_cast<std::size_t>(next_.job.model)];
  Job job;
  job.index = ++last_index_;
  job.model = next_.job.model;
  job.fraction = next_.job.fraction;
  job.arrived = now_;
  job.sequential_time = graph.total_compute() * memo_->setting().time_scale * num_training_steps_;
  job.max_acceptable_time = job.fraction * job.sequential_time;
  queued_ = job;
  next_ = future_->at(++arrived_);
}

}  // namespace pacml::env

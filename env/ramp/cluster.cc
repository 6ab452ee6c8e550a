#include "env/ramp/cluster.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/check.h"
#include "env/numerics.h"
#include "env/ramp/cluster_clock.h"

namespace pacml::env {
namespace {

// One step's figures per tick and, for overheads, per running job. Of the thread, whichever of its
// clusters is stepped: each is empty between two steps, and what many clusters keep leaves the
// nearer caches.
struct TickFigures {
  std::vector<double> jobs_running, mounted_workers, mounted_channels;
  std::vector<double> compute_overhead, communication_overhead, utilisation;
};
TickFigures& tick_figures() {
  thread_local TickFigures figures;
  return figures;
}

double ratio_or_zero(double part, double whole) {
  return part != 0 && whole != 0 ? part / whole : 0.0;
}

}  // namespace

std::vector<std::string> validate(const ClusterConfig& c) {
  std::vector<std::string> problems;
  constexpr double kMostTime = 1e15;  // where the clock still tells ten units apart
  if (!(c.max_simulation_time > 0 &&
        (c.max_simulation_time <= kMostTime || std::isinf(c.max_simulation_time)))) {
    problems.emplace_back(
        "max_simulation_time: must be > 0 and at most 1e15, or .inf: until no job is left");
  }
  return problems;
}

const char* name_of(BlockCause cause) {
  switch (cause) {
    case BlockCause::kNone:
      return "none";
    case BlockCause::kOpPartition:
      return "op_partition";
    case BlockCause::kOpPlacement:
      return "op_placement";
    case BlockCause::kCompletionTime:
      return "max_acceptable_job_completion_time";
    case BlockCause::kSimulationEnded:
      return "simulation_ended";
  }
  return "?";
}

Cluster::Cluster(std::shared_ptr<ExecutionMemo> memo, const ClusterConfig& config,
                 int num_training_steps)
    : memo_(std::move(memo)),
      config_(config),
      num_training_steps_(num_training_steps),
      jobs_(JobStream::from_list({}, static_cast<int>(memo_->graphs().size()))),
      occupied_(memo_->topology().num_servers()) {}

void Cluster::reset(JobStream jobs, bool keep_log) {
  PACML_CHECK(!jobs.exhausted(), "an episode needs a job");
  begin(std::move(jobs), keep_log);
  arrive(jobs_.next());
}

void Cluster::reset(const ClusterMoment& moment, JobStream later) {
  begin(std::move(later), false);
  for (const ClusterMoment::Running& running : moment.running) {
    PACML_CHECK(running.remaining > 0 && !occupied_.overlaps(running.execution->servers),
                "jobs that run have servers of their own");
    MountedJob job;
    job.job.index = counters_.arrived++;
    job.execution = running.execution;
    job.completion_time = running.remaining;
    job.sequential_time = running.remaining;
    occupied_.insert(job.execution->servers);
    mounted_workers_at_tick_ += job.execution->num_servers;
    mounted_channels_at_tick_ += job.execution->num_channels;
    running_.push_back(std::move(job));
  }
  arrive(moment.job);
}

void Cluster::begin(JobStream jobs, bool keep_log) {
  jobs_ = std::move(jobs);
  keep_log_ = keep_log;
  now_ = 0;
  next_arrival_ = 0;
  queued_.reset();
  running_.clear();
  cut_off_.clear();
  occupied_.clear();
  mounted_workers_at_tick_ = 0;
  mounted_channels_at_tick_ = 0;
  episode_lookaheads_.assign(config_.lookahead_cache == LookaheadCache::kModelDegree
                                 ? lookahead_slot(static_cast<int>(memo_->graphs().size()), 0)
                                 : 0,
                             nullptr);
  counters_ = {};
  log_ = {};
}

void Cluster::arrive(const ArrivingJob& next) {
  memo_->forget_when_full();
  const JobGraph& graph = *memo_->graphs()[static_cast<std::size_t>(next.model)];
  Job job;
  job.index = counters_.arrived++;
  job.model = next.model;
  job.fraction = next.fraction;
  job.arrived = now_;
  job.sequential_time = graph.total_compute() * memo_->setting().time_scale * num_training_steps_;
  job.max_acceptable_time = job.fraction * job.sequential_time;
  next_arrival_ += jobs_.next_interarrival(next_arrival_);
  if (keep_log_) {
    log_.load_rates.push_back((graph.total_memory() + graph.total_dependency_bytes()) /
                              (next_arrival_ - now_));
  }
  queued_ = job;
}

bool Cluster::finished() const {
  return now_ >= config_.max_simulation_time || (jobs_.exhausted() && running_.empty() && !queued_);
}

int Cluster::mounted_workers() const {
  return memo_->setting().semantics.fresh_occupancy ? occupied_.count() : mounted_workers_at_tick_;
}

int Cluster::mounted_channels() const {
  if (!memo_->setting().semantics.fresh_occupancy) return mounted_channels_at_tick_;
  int channels = 0;
  for (const auto& job : running_) channels += job.execution->num_channels;
  return channels;
}

const ExecutionPtr& Cluster::place(int model, const JobDecision& decision) const {
  return memo_->place_that_fits(model, decision.degree, occupied_, decision.block);
}

Cluster::Forecast Cluster::forecast(const JobDecision& decision) const {
  PACML_CHECK(queued_.has_value(), "no job waits");
  if (decision.degree == 0) return {nullptr, 0, BlockCause::kOpPartition};
  const ExecutionPtr& execution = place(queued_->model, decision);
  if (!execution) return {nullptr, 0, BlockCause::kOpPlacement};
  const double time = completion_time(*execution);
  return {execution, time, outcome_of(*execution, time)};
}

ClusterSight::Outlook Cluster::outlook(const JobDecision& decision) const {
  PACML_CHECK(queued_.has_value(), "no job waits");
  if (decision.degree == 0) return {BlockCause::kOpPartition};
  const ExecutionPtr& execution = place(queued_->model, decision);
  if (!execution) return {BlockCause::kOpPlacement};
  return {outcome_of(*execution, completion_time(*execution)), execution->number};
}

BlockCause Cluster::outcome_of(const Execution& execution, double completion_time) const {
  if (!meets_limit(completion_time, max_acceptable_time(execution))) {
    return BlockCause::kCompletionTime;
  }
  const bool cut_off =
      is_cut_off(completion_time, now_, config_.max_simulation_time, memo_->setting().semantics);
  return cut_off ? BlockCause::kSimulationEnded : BlockCause::kNone;
}

const Job& Cluster::waiting_job() const {
  PACML_CHECK(queued_.has_value(), "no job waits");
  return *queued_;
}

ClusterSight::RunningJob Cluster::running_job(std::size_t i) const {
  const MountedJob& job = running_[i];
  return {remaining_time(job.completion_time, job.started, now_), job.execution->servers.words()};
}

std::size_t Cluster::lookahead_slot(int model, int degree) const {
  const auto degrees = static_cast<std::size_t>(memo_->setting().max_degree) + 1;
  return static_cast<std::size_t>(model) * degrees + static_cast<std::size_t>(degree);
}

double Cluster::completion_time(const Execution& execution) const {
  PACML_CHECK(queued_.has_value(), "no job waits");
  if (config_.lookahead_cache == LookaheadCache::kModelDegree) {
    const auto& first =
        episode_lookaheads_[lookahead_slot(queued_->model, execution.job->degree())];
    if (first) return first->step_time * num_training_steps_;
  }
  return memo_->step_time(execution) * num_training_steps_;
}

double Cluster::max_acceptable_time(const Execution& execution) const {
  PACML_CHECK(queued_.has_value(), "no job waits");
  return queued_->fraction * (execution.total_compute * num_training_steps_);
}

bool Cluster::meets_limit(double completion_time, double max_acceptable_time) const {
  return env::meets_limit(completion_time, max_acceptable_time, memo_->setting().semantics);
}

std::shared_ptr<const Lookahead> Cluster::find_lookahead(const ExecutionPtr& execution, int model,
                                                         bool& ran) {
  ran = true;
  if (config_.lookahead_cache == LookaheadCache::kOff) {
    const auto& job = *execution->job;
    const auto server = server_of_ops(job, execution->placement);
    const int num_servers = memo_->topology().num_servers();
    const auto raw = raw_run_times(job, server, memo_->topology(), memo_->communication());
    return std::make_shared<const Lookahead>(simulate_step(
        job, execution->placement, server, raw, num_servers, memo_->setting().semantics));
  }
  if (config_.lookahead_cache == LookaheadCache::kPlacement) return memo_->lookahead(*execution);
  auto& first = episode_lookaheads_[lookahead_slot(model, execution->job->degree())];
  ran = first == nullptr;
  if (ran) first = memo_->lookahead(*execution);
  return first;
}

JobOutcome Cluster::mount(const Job& job, const JobDecision& decision) {
  auto execution = place(job.model, decision);
  if (!execution) return {std::nullopt, BlockCause::kOpPlacement};
  MountedJob mounted;
  mounted.job = job;
  mounted.lookahead = find_lookahead(execution, job.model, mounted.lookahead_ran);
  mounted.completion_time = mounted.lookahead->step_time * num_training_steps_;
  mounted.communication_share =
      mounted.lookahead->communication_time * num_training_steps_ / mounted.completion_time;
  mounted.computation_share =
      mounted.lookahead->computation_time * num_training_steps_ / mounted.completion_time;
  mounted.sequential_time = execution->total_compute * num_training_steps_;
  mounted.max_acceptable_time = job.fraction * mounted.sequential_time;
  mounted.started = now_;
  mounted.execution = std::move(execution);
  if (!meets_limit(mounted.completion_time, mounted.max_acceptable_time)) {
    return {std::move(mounted), BlockCause::kCompletionTime};
  }
  mounted.utilisation =
      mounted.lookahead->utilisation(mounted.execution->num_servers, mounted.completion_time);
  if (memo_->setting().semantics.utilisation_over_all_steps)
    mounted.utilisation *= num_training_steps_;
  return {std::move(mounted), BlockCause::kNone};
}

JobOutcome Cluster::decide(const JobDecision& decision, ClusterStepStats& stats) {
  PACML_CHECK(queued_.has_value(), "no job waits for a decision");
  stats.restart(now_);
  const Job job = *std::exchange(queued_, std::nullopt);
  JobOutcome outcome = decision.degree == 0 ? JobOutcome{std::nullopt, BlockCause::kOpPartition}
                                            : mount(job, decision);
  if (outcome.cause == BlockCause::kNone) {
    occupied_.insert(outcome.mounted->execution->servers);
    running_.push_back(*outcome.mounted);
  } else {
    block(job, outcome.cause, stats);
  }
  advance(stats);
  // The episode ended within this step, while the job ran: it was booked as blocked.
  if (outcome.cause == BlockCause::kNone && finished() &&
      std::find(stats.blocked.begin(), stats.blocked.end(), job.index) != stats.blocked.end()) {
    outcome.cause = BlockCause::kSimulationEnded;
  }
  if (keep_log_) log_.steps.push_back(stats);
  return outcome;
}

void Cluster::wait(ClusterStepStats& stats) {
  PACML_CHECK(!queued_ && !finished(), "only an idle, unfinished cluster waits");
  stats.restart(now_);
  advance(stats);
  if (keep_log_) log_.steps.push_back(stats);
}

void Cluster::advance(ClusterStepStats& stats) {
  const int arrived_before = counters_.arrived;
  auto& f = tick_figures();
  for (auto* list : {&f.jobs_running, &f.mounted_workers, &f.mounted_channels, &f.compute_overhead,
                     &f.communication_overhead}) {
    list->clear();
  }
  for (bool step_done = false; !step_done;) tick(stats, step_done);

  stats.end_time = now_;
  stats.jobs_completed = static_cast<int>(stats.completed.size());
  stats.jobs_arrived = counters_.arrived - arrived_before;
  stats.queue_length = queued_ ? 1 : 0;
  stats.mean_jobs_running = pairwise_mean(f.jobs_running);
  stats.mean_mounted_workers = pairwise_mean(f.mounted_workers);
  stats.mean_mounted_channels = pairwise_mean(f.mounted_channels);
  stats.mean_compute_overhead = pairwise_mean(f.compute_overhead);
  stats.mean_communication_overhead = pairwise_mean(f.communication_overhead);
  for (std::size_t i = 0; i < kNumInfos; ++i) {
    stats.throughput[i] = ratio_or_zero(stats.info[i], stats.end_time - stats.start_time);
  }
  counters_.demand_sum += stats.info[static_cast<std::size_t>(Info::kDemandTotal)];
  if (finished()) close_episode(stats);
  stats.jobs_blocked = static_cast<int>(stats.blocked.size());
}

double Cluster::time_to_next_event() const {
  double least = std::min(next_arrival_ - now_, config_.max_simulation_time - now_);
  for (const auto& job : running_) {
    least = std::min(least, remaining_time(job.completion_time, job.started, now_));
  }
  return least == kEndOfTime ? 0 : least;  // nothing is left to wait for
}

void Cluster::tick(ClusterStepStats& stats, bool& step_done) {
  const double length = time_to_next_event();
  auto& f = tick_figures();
  f.utilisation.clear();
  mounted_workers_at_tick_ = 0;
  mounted_channels_at_tick_ = 0;
  for (const auto& job : running_) {
    const double share = length / job.completion_time;
    const PartitionedGraph& cut = *job.execution->job;
    const JobGraph& whole = cut.graph();
    const InfoVector held = {cut.total_memory(),
                             cut.total_dependency_bytes(),
                             job.execution->flow_bytes,
                             cut.total_memory() + cut.total_dependency_bytes(),
                             whole.total_memory(),
                             whole.total_dependency_bytes(),
                             whole.total_memory() + whole.total_dependency_bytes()};
    for (std::size_t i = 0; i < kNumInfos; ++i) stats.info[i] += held[i] * share;
    f.compute_overhead.push_back(job.computation_share);
    f.communication_overhead.push_back(job.communication_share);
    f.utilisation.push_back(job.utilisation);
    mounted_workers_at_tick_ += job.execution->num_servers;  // jobs never share a server
    mounted_channels_at_tick_ += job.execution->num_channels;
  }
  f.jobs_running.push_back(static_cast<double>(running_.size()));
  f.mounted_workers.push_back(mounted_workers_at_tick_);
  f.mounted_channels.push_back(mounted_channels_at_tick_);
  const double utilisation = pairwise_mean(f.utilisation);
  stats.mounted_utilisation.push_back(utilisation);
  stats.cluster_utilisation.push_back(static_cast<double>(mounted_workers_at_tick_) /
                                      memo_->topology().num_servers() * utilisation);

  now_ = time_after(now_, length);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    auto& job = running_[i];
    if (is_done(remaining_time(job.completion_time, job.started, now_))) {
      complete(job, stats);
      step_done = true;
    } else {
      if (kept != i) running_[kept] = std::move(job);
      ++kept;
    }
  }
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(kept), running_.end());

  if (jobs_.exhausted()) {
    next_arrival_ = kEndOfTime;
  } else if (is_due(next_arrival_, now_)) {
    arrive(jobs_.next());
    step_done = true;
  }
  if (finished()) step_done = true;
}

void Cluster::block(const Job& job, BlockCause cause, ClusterStepStats& stats) {
  stats.blocked.push_back(job.index);
  ++counters_.blocked;
  ++counters_.blocked_by_cause[static_cast<std::size_t>(cause)];
  if (!keep_log_) return;
  const JobGraph& graph = *memo_->graphs()[static_cast<std::size_t>(job.model)];
  log_.blocked.push_back({job.index, graph.num_ops(), static_cast<int>(graph.dependencies().size()),
                          graph.total_memory(), graph.total_dependency_bytes(), job.sequential_time,
                          job.fraction, job.max_acceptable_time});
}

void Cluster::complete(const MountedJob& done, ClusterStepStats& stats) {
  stats.completed.push_back(done.job.index);
  const double time = now_ - done.job.arrived;
  ++counters_.completed;
  counters_.completion_time_sum += time;
  counters_.speedup_sum += done.sequential_time / time;
  unmount(done);
  if (!keep_log_) return;
  const PartitionedGraph& cut = *done.execution->job;
  const JobGraph& whole = cut.graph();
  log_.completed.push_back({done.job.index,
                            time,
                            done.sequential_time / time,
                            done.lookahead->communication_time * num_training_steps_,
                            done.lookahead->computation_time * num_training_steps_,
                            cut.num_ops(),
                            cut.num_dependencies(),
                            cut.total_memory(),
                            cut.total_dependency_bytes(),
                            cut.degree(),
                            done.sequential_time,
                            done.job.fraction,
                            done.max_acceptable_time,
                            done.execution->num_servers,
                            done.execution->num_channels,
                            done.utilisation,
                            whole.num_ops(),
                            static_cast<int>(whole.dependencies().size()),
                            whole.total_memory(),
                            whole.total_dependency_bytes()});
}

void Cluster::unmount(const MountedJob& job) { occupied_.erase(job.execution->servers); }

void Cluster::close_episode(ClusterStepStats& stats) {
  for (const auto& job : running_) {
    unmount(job);
    if (!memo_->setting().semantics.running_at_end_is_not_blocked) {
      block(job.job, BlockCause::kSimulationEnded, stats);
    }
  }
  cut_off_ = std::exchange(running_, {});
}

Cluster Cluster::beyond_limit() const {
  PACML_CHECK(now_ >= config_.max_simulation_time, "the time is up");
  Cluster out = *this;
  out.config_.max_simulation_time = kEndOfTime;
  out.keep_log_ = false;
  out.running_ = std::exchange(out.cut_off_, {});
  for (const MountedJob& job : out.running_) out.occupied_.insert(job.execution->servers);
  ClusterStepStats stats;
  while (!out.queued() && !out.finished()) out.wait(stats);
  return out;
}

bool Cluster::resample_future(Seed seed) {
  PACML_CHECK(queued_.has_value(), "a job waits");
  if (!jobs_.redraw(seed, queued_->arrived)) return false;
  // The job that waits has arrived just now, so that nothing of the time until the next has passed.
  if (!jobs_.exhausted()) {
    next_arrival_ = queued_->arrived + jobs_.next_interarrival(queued_->arrived);
  }
  return true;
}

}  // namespace pacml::env

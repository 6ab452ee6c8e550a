#include "env/tasks/ramp/environment.h"

#include <utility>

#include "common/check.h"
#include "env/ramp/step_trace.h"
#include "env/tasks/ramp/metrics.h"
#include "env/tasks/ramp/picture.h"

namespace pacml::env {

RampEnvironment::RampEnvironment(std::shared_ptr<const RampTask> task,
                                 std::shared_ptr<RampMemos> memos)
    : task_(std::move(task)),
      memos_(std::move(memos)),
      cluster_(make_cluster(cluster_number_)),
      recent_(task_->ramp_config().recent_arrivals) {}

Cluster RampEnvironment::make_cluster(std::size_t number) const {
  return {memos_->of(number), task_->ramp_config().cluster,
          task_->ramp_config().workload.num_training_steps};
}

void RampEnvironment::reset(Seed seed) {
  const std::size_t cluster = task_->cluster_of(seed);
  start(cluster, JobStream(task_->clusters()[cluster].plan, seed), seed);
}

void RampEnvironment::reset(JobStream jobs) { start(0, std::move(jobs), Seed{0}); }

void RampEnvironment::start(std::size_t cluster, JobStream jobs, Seed seed) {
  begin(cluster, jobs.statistics());
  draw_from(seed);
  cluster_.reset(std::move(jobs), keep_log_);
  look_at_waiting_job(cluster_);
}

void RampEnvironment::reset(const ClusterMoment& moment, const RecentArrivals& recent,
                            JobStream later) {
  begin(0, later.statistics());
  draw_from(Seed{0});
  recent_ = recent;
  recent_.set_clock(0);  // the waiting job is the last of them, and the cluster's clock begins now
  cluster_.reset(moment, std::move(later));
  job_waits(cluster_);
}

void RampEnvironment::begin(std::size_t cluster, std::span<const ModelFractions> fractions) {
  if (cluster != cluster_number_) {
    cluster_ = make_cluster(cluster);
    cluster_number_ = cluster;
  }
  ranges_ = task_->ranges(fractions);
  recent_.clear();
  return_ = 0;
  decisions_ = 0;
}

void RampEnvironment::look_at_waiting_job(const Cluster& cluster) {
  recent_.add(cluster.queued()->fraction, cluster.queued()->arrived);
  job_waits(cluster);
}

StepResult RampEnvironment::step(int action) {
  PACML_CHECK(cluster_.queued().has_value() && !cluster_.finished(), "the episode is over");
  PACML_CHECK(action >= 0 && action < spec().num_actions(), "no such action");
  const JobDecision decision = decision_of(action);
  const RampTaskConfig& config = task_->ramp_config();
  last_job_ = *cluster_.queued();
  last_outcome_ = cluster_.decide(decision, stats_);
  const ExecutionMemo& memo = cluster_.memo();
  const double value =
      finite_reward(config.reward,
                    {last_job_, last_outcome_, stats_, ranges_, memo.topology().num_servers(),
                     memo.communication().channel_bandwidth(), config.ramp.num_channels},
                    memo.graphs()[static_cast<std::size_t>(last_job_.model)]->model());
  // Nobody's: nearer than one of each environment would be.
  static thread_local ClusterStepStats waiting;
  while (!cluster_.queued() && !cluster_.finished()) cluster_.wait(waiting);

  StepResult result;
  result.reward = static_cast<float>(value);
  return_ += value;
  ++decisions_;
  if (cluster_.finished()) {
    const bool out_of_time = cluster_.now() >= config.cluster.max_simulation_time;
    result.truncated =
        out_of_time && config.time_limit == TimeLimit::kTruncated && look_beyond_limit();
    result.terminated = !result.truncated;
  } else {
    look_at_waiting_job(cluster_);
  }
  return result;
}

bool RampEnvironment::look_beyond_limit() {
  const Cluster beyond = cluster_.beyond_limit();
  if (!beyond.queued()) return false;
  look_at_waiting_job(beyond);
  return true;
}

bool RampEnvironment::resample_future(Seed seed) {
  if (!cluster_.resample_future(seed)) return false;
  draw_from(seed);
  return true;
}

std::optional<PlanningCluster> RampEnvironment::imagined_cluster(Seed future) const {
  if (!PlanningCluster::follows(cluster_.config())) return std::nullopt;
  JobStream jobs = cluster_.jobs();
  if (!jobs.redraw(future, cluster_.waiting_job().arrived)) return std::nullopt;
  return PlanningCluster(
      cluster_, std::make_shared<FutureJobs>(std::move(jobs), cluster_.waiting_job().arrived));
}

EpisodeRecord RampEnvironment::summary() const {
  return {return_, decisions_, ramp_metric_values(cluster_)};
}

Picture RampEnvironment::picture() const { return ramp_picture(*this); }

std::optional<Timeline> RampEnvironment::timeline(int action) const {
  const Cluster::Forecast forecast = cluster_.forecast(decision_of(action));
  if (!forecast.execution) return std::nullopt;
  return timeline_of(*forecast.execution, cluster_.memo(), "units of simulated time");
}

}  // namespace pacml::env

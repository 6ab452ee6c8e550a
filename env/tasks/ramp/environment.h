#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "env/environment.h"
#include "env/picture.h"
#include "env/ramp/cluster.h"
#include "env/ramp/planning_cluster.h"
#include "env/tasks/ramp/recent_arrivals.h"
#include "env/tasks/ramp/task.h"
#include "env/timeline.h"

namespace pacml::env {

// One decision per job that arrives at the RAMP cluster. What may be decided, and what is shown of
// it, is the derived environment's. Thread-confined.
class RampEnvironment : public Environment, public Pictured, public Timed {
 public:
  [[nodiscard]] const EnvironmentSpec& spec() const override { return task_->spec(); }
  void reset(Seed seed) override;
  [[nodiscard]] StepResult step(int action) override;
  // Arrivals and limits are drawn from the workload. False over an explicit list of jobs.
  [[nodiscard]] bool resample_future(Seed seed) override;
  [[nodiscard]] EpisodeRecord summary() const override;
  [[nodiscard]] Picture picture() const override;
  [[nodiscard]] bool tells_losses() const override { return true; }
  // One training step of the job that waits.
  [[nodiscard]] std::optional<Timeline> timeline(int action) const override;

  // An episode over an explicit list of jobs, e.g. a recorded one, on the first of the task's
  // clusters.
  void reset(JobStream jobs);
  // An episode there that begins in the midst of things (Cluster::reset). `recent`: with the job
  // that waits, and of the task's memory.
  void reset(const ClusterMoment& moment, const RecentArrivals& recent, JobStream later);
  // What would become of the waiting job. Pre: as step().
  [[nodiscard]] Cluster::Forecast forecast(int action) const {
    return cluster_.forecast(decision_of(action));
  }
  // Keep a full log of every episode that starts from now on (cluster().log()).
  void keep_log(bool keep) { keep_log_ = keep; }

  [[nodiscard]] const RampTask& task() const { return *task_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  // What became of the last action, the job that it was about, and the statistics of its first
  // cluster step. Valid after step().
  [[nodiscard]] const JobOutcome& last_outcome() const { return last_outcome_; }
  [[nodiscard]] const Job& last_job() const { return last_job_; }
  [[nodiscard]] const ClusterStepStats& last_stats() const { return stats_; }
  [[nodiscard]] const PoolRanges& ranges() const { return ranges_; }
  // Up to the job that waits.
  [[nodiscard]] const RecentArrivals& recent() const { return recent_; }

 protected:
  RampEnvironment(std::shared_ptr<const RampTask> task, std::shared_ptr<RampMemos> memos);

  // From here on, whatever chance decides besides the jobs is drawn from this seed: when an episode
  // begins, before its first job waits (seed 0 where its jobs are a list), and when its future is
  // drawn anew.
  virtual void draw_from(Seed /*seed*/) {}
  // Another job waits, in `cluster`: this one, or where an episode was truncated, what it would
  // have come to when the next one had arrived.
  virtual void job_waits(const Cluster& cluster) = 0;
  // What an action decides about the waiting job. Pre: as step().
  [[nodiscard]] virtual JobDecision decision_of(int action) const = 0;
  // The cluster in a future of this seed. Nullopt: the jobs are a list, or what is to be known of
  // the episode is more than a PlanningCluster keeps.
  [[nodiscard]] std::optional<PlanningCluster> imagined_cluster(Seed future) const;

 private:
  // On the cluster of this number.
  void begin(std::size_t cluster, std::span<const ModelFractions> fractions);
  void start(std::size_t cluster, JobStream jobs, Seed seed);
  void look_at_waiting_job(const Cluster& cluster);
  // At the job that would have come next, had there been no limit. False: none would have.
  bool look_beyond_limit();

  [[nodiscard]] Cluster make_cluster(std::size_t number) const;

  std::shared_ptr<const RampTask> task_;
  std::shared_ptr<RampMemos> memos_;
  std::size_t cluster_number_ = 0;
  Cluster cluster_;
  bool keep_log_ = false;
  PoolRanges ranges_;
  RecentArrivals recent_;
  JobOutcome last_outcome_;
  Job last_job_;
  ClusterStepStats stats_;
  double return_ = 0;
  std::int64_t decisions_ = 0;
};

}  // namespace pacml::env

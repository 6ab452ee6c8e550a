#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "env/ramp/cluster_config.h"
#include "env/ramp/cluster_sight.h"
#include "env/ramp/episode_log.h"
#include "env/ramp/execution_memo.h"
#include "env/workload/job_stream.h"

namespace pacml::env {

// A job that has been mounted.
struct MountedJob {
  Job job;
  ExecutionPtr execution;
  std::shared_ptr<const Lookahead> lookahead;
  bool lookahead_ran =
      false;  // simulated or looked up for itself, not taken from another placement
  double completion_time = 0;  // lookahead, all training steps
  // Of the completion time: what is communicated (computed) while nothing else is done.
  double communication_share = 0;
  double computation_share = 0;
  double sequential_time = 0;  // of the partitioned job, which decides blocking
  double max_acceptable_time = 0;
  double utilisation = 0;
  double started = 0;
};

// What became of a decision.
struct JobOutcome {
  std::optional<MountedJob> mounted;  // absent when it was refused or found no place
  BlockCause cause = BlockCause::kNone;
};

// A cluster that somebody else runs, at the moment when a job asks for a decision.
struct ClusterMoment {
  struct Running {
    ExecutionPtr execution;  // its own, or ExecutionMemo::occupation()
    double remaining = 0;    // simulated time until it is done; > 0
  };
  std::vector<Running> running;  // no two on one server
  ArrivingJob job;
};

// Counts of an episode so far.
struct ClusterCounters {
  int arrived = 0;
  int completed = 0;
  int blocked = 0;
  std::array<int, kNumBlockCauses> blocked_by_cause{};
  // Over the completed jobs: simulated time since arrival, and sequential time over that.
  double completion_time_sum = 0;
  double speedup_sum = 0;
  double demand_sum = 0;  // Info::kDemandTotal, processed so far
};

// The RAMP cluster's event loop: jobs arrive one at a time, are mounted or blocked by a decision,
// run for their lookahead's completion time and leave. A value: copies are independent but share
// the memo, so they stay on one thread. Thread-confined.
class Cluster final : public ClusterSight {
 public:
  Cluster(std::shared_ptr<ExecutionMemo> memo, const ClusterConfig& config, int num_training_steps);

  // Starts an episode. The first job arrives at time 0. `keep_log`: fill log() (tests, evaluation).
  void reset(JobStream jobs, bool keep_log);

  // Starts an episode in the midst of things, without a log: at time 0 these jobs run and that one
  // waits. What arrives after it is the stream's, which has begun. Pre: as of the moment
  // (PACML_CHECK).
  void reset(const ClusterMoment& moment, JobStream later);

  // The job that waits for a decision, if one does.
  [[nodiscard]] const std::optional<Job>& queued() const { return queued_; }
  // Decides on the queued job. Then time goes on until a job arrives or completes, or the episode
  // ends: one cluster step. Pre: queued().
  [[nodiscard]] JobOutcome decide(const JobDecision& decision, ClusterStepStats& stats);
  // A cluster step without a decision. Pre: !queued() and !finished().
  void wait(ClusterStepStats& stats);
  [[nodiscard]] bool finished() const;
  // This cluster where the time is up, as if there were no limit: what ran goes on, until the next
  // job has arrived; without one where no other comes. Pre: now() is at the limit (PACML_CHECK).
  [[nodiscard]] Cluster beyond_limit() const;
  // From here on jobs arrive as a stream of this seed has them: models, limits and times between
  // arrivals, of which as many have passed as of the stream before it. False: the jobs are a list,
  // of which nothing is drawn. Pre: queued(): nothing of what comes has begun (PACML_CHECK).
  [[nodiscard]] bool resample_future(Seed seed);

  // What would become of the queued job if this were decided now: whether it would be placed,
  // where, and by when it would be done. Changes nothing.
  struct Forecast {
    ExecutionPtr execution;      // null: no place
    double completion_time = 0;  // as completion_time()
    BlockCause cause = BlockCause::kNone;
  };
  [[nodiscard]] Forecast forecast(const JobDecision& decision) const;
  // All training steps' completion time of an execution of the queued job, as decide() would find
  // it now: with `model_degree` that is the episode's first lookahead of this model and degree.
  [[nodiscard]] double completion_time(const Execution& execution) const;
  // The limit of the queued job when cut as in `execution`.
  [[nodiscard]] double max_acceptable_time(const Execution& execution) const;
  [[nodiscard]] bool meets_limit(double completion_time, double max_acceptable_time) const;

  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] const std::vector<MountedJob>& running() const { return running_; }
  [[nodiscard]] int mounted_workers() const override;
  // The same of channels.
  [[nodiscard]] int mounted_channels() const;
  // Servers that hold a job right now.
  [[nodiscard]] const ServerSet& occupied() const { return occupied_; }
  [[nodiscard]] const ClusterCounters& counters() const { return counters_; }
  [[nodiscard]] const EpisodeLog& log() const { return log_; }
  [[nodiscard]] const JobStream& jobs() const { return jobs_; }
  [[nodiscard]] const ClusterConfig& config() const { return config_; }

  [[nodiscard]] const Job& waiting_job() const override;
  [[nodiscard]] Outlook outlook(const JobDecision& decision) const override;
  [[nodiscard]] double time_left() const override { return config_.max_simulation_time - now_; }
  [[nodiscard]] std::size_t num_running() const override { return running_.size(); }
  [[nodiscard]] RunningJob running_job(std::size_t i) const override;
  [[nodiscard]] ExecutionMemo& memo() const override { return *memo_; }
  // What the imagined ones share (planning_cluster.h).
  [[nodiscard]] const std::shared_ptr<ExecutionMemo>& shared_memo() const { return memo_; }
  [[nodiscard]] int num_training_steps() const override { return num_training_steps_; }

 private:
  void begin(JobStream jobs, bool keep_log);
  void arrive(const ArrivingJob& next);
  // How the queued, or just now decided, job of that model would run; null: no place. Borrowed, as
  // the memo's.
  [[nodiscard]] const ExecutionPtr& place(int model, const JobDecision& decision) const;
  // What would become of the queued job if it ran so.
  [[nodiscard]] BlockCause outcome_of(const Execution& execution, double completion_time) const;
  [[nodiscard]] JobOutcome mount(const Job& job, const JobDecision& decision);
  [[nodiscard]] std::size_t lookahead_slot(int model, int degree) const;
  [[nodiscard]] std::shared_ptr<const Lookahead> find_lookahead(const ExecutionPtr& execution,
                                                                int model, bool& ran);
  void block(const Job& job, BlockCause cause, ClusterStepStats& stats);
  void complete(const MountedJob& done, ClusterStepStats& stats);
  void unmount(const MountedJob& job);
  void advance(ClusterStepStats& stats);
  [[nodiscard]] double time_to_next_event() const;
  void tick(ClusterStepStats& stats, bool& step_done);
  void close_episode(ClusterStepStats& stats);

  std::shared_ptr<ExecutionMemo> memo_;
  ClusterConfig config_;
  int num_training_steps_;
  JobStream jobs_;
  bool keep_log_ = false;

  double now_ = 0;
  double next_arrival_ = 0;
  std::optional<Job> queued_;
  std::vector<MountedJob> running_;  // by index
  std::vector<MountedJob> cut_off_;  // those that ran when the time was up
  ServerSet occupied_;
  int mounted_workers_at_tick_ = 0;
  int mounted_channels_at_tick_ = 0;
  std::vector<std::shared_ptr<const Lookahead>>
      episode_lookaheads_;  // [model, degree], model_degree
  ClusterCounters counters_;
  EpisodeLog log_;
};

}  // namespace pacml::env

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "env/numerics.h"
#include "env/ramp/cluster.h"
#include "env/ramp/cluster_sight.h"
#include "env/workload/future_jobs.h"

namespace pacml::env {

// The RAMP cluster for whoever looks ahead: what happens is what happens in Cluster, to the last
// bit, but nothing of it is counted, and of a job that runs only what decides when it is done, and
// which servers it holds, is kept. A value: copies are independent, but share the memo and the jobs
// to come. Thread-confined.
class PlanningCluster final : public ClusterSight {
 public:
  // The simulated cluster as it is, in a future of these jobs. Pre: a job waits, and
  // follows(cluster.config()) (PACML_CHECK).
  PlanningCluster(const Cluster& cluster, std::shared_ptr<FutureJobs> future);
  // Whether what happens does not depend on more than is kept here.
  [[nodiscard]] static bool follows(const ClusterConfig& config);

  // What became of a decision by the end of its first cluster step (Cluster::decide).
  struct Outcome {
    BlockCause cause = BlockCause::kNone;
    double completion_time = 0;  // of the job that was mounted,
    double sequential_time = 0;  // and of its partitioned graph
  };
  // Decides on the job that waits. Then time goes on until another one waits, or the episode ends.
  // Pre: a job waits (PACML_CHECK).
  [[nodiscard]] Outcome decide(const JobDecision& decision);
  [[nodiscard]] bool waits() const { return queued_.has_value(); }
  // As Cluster has it.
  [[nodiscard]] bool finished() const {
    return out_of_time() || (running_.empty() && exhausted() && !queued_);
  }
  [[nodiscard]] bool out_of_time() const { return now_ >= limit_; }
  // Whether no job comes after those that have arrived.
  [[nodiscard]] bool exhausted() const { return next_.time == kEndOfTime; }
  // Where the time is up: goes on as if there were no limit, as Cluster::beyond_limit().
  void pass_limit();
  // As Cluster::resample_future(), of which it is known that it can be. Pre: a job waits
  // (PACML_CHECK).
  void resample_future(Seed seed);

  [[nodiscard]] const Job& waiting_job() const override;
  [[nodiscard]] Outlook outlook(const JobDecision& decision) const override;
  [[nodiscard]] double time_left() const override { return limit_ - now_; }
  [[nodiscard]] std::size_t num_running() const override { return running_.size(); }
  [[nodiscard]] RunningJob running_job(std::size_t i) const override;
  [[nodiscard]] int mounted_workers() const override;
  [[nodiscard]] ExecutionMemo& memo() const override { return *memo_; }
  [[nodiscard]] int num_training_steps() const override { return num_training_steps_; }

 private:
  struct Running {
    double completion_time = 0;
    double started = 0;
    double done_at = 0;  // up to rounding
    int num_servers = 0;
  };
  // How the job that waits would run; null: no place. Borrowed until the memo is asked again.
  [[nodiscard]] const Execution* place(const JobDecision& decision) const;
  // Of the job that waits, all its training steps, if it ran so.
  struct RunTimes {
    double completion = 0;
    double sequential = 0;
    double max_acceptable = 0;
  };
  [[nodiscard]] RunTimes run_times(const Execution& execution) const;
  void mount(const Running& job, const ServerSet& servers);
  void move_servers(std::size_t from, std::size_t to);
  // Where those in running_ begin that may be done by then, as far as rounding leaves room for it.
  [[nodiscard]] std::size_t first_done_by(double time) const;
  [[nodiscard]] double time_to_next_event() const;
  // Time goes on until something happens. Returns whether that ends a cluster step.
  bool tick();
  // Frees the servers of those that are done by now. Returns whether there were any.
  bool complete();
  void arrive();

  std::shared_ptr<ExecutionMemo> memo_;
  std::shared_ptr<FutureJobs> future_;
  int num_training_steps_;

  double now_;
  double limit_;
  std::optional<Job> queued_;
  int last_index_;                      // of the jobs that have arrived
  std::size_t arrived_ = 0;             // of the future's
  FutureJobs::Arrival next_;            // the one behind them
  std::vector<Running> running_;        // whoever is done last comes first
  std::vector<std::uint64_t> servers_;  // [running, words of a ServerSet]
  ServerSet occupied_;
  int mounted_workers_ = 0;
  int mounted_workers_at_tick_;
};

}  // namespace pacml::env

#pragma once

#include <memory>
#include <span>
#include <string>

#include "env/tasks/partitioning/degree_observation.h"
#include "env/tasks/partitioning/task.h"
#include "env/tasks/ramp/environment.h"

namespace pacml::env {

// Action 0 refuses the waiting job, action k lets every op be cut into at most k pieces, which
// first fit places. Thread-confined.
class PartitioningEnv final : public RampEnvironment {
 public:
  // `memos`: the thread's, made by the task.
  PartitioningEnv(std::shared_ptr<const PartitioningTask> task, std::shared_ptr<RampMemos> memos);
  // With memos of its own.
  explicit PartitioningEnv(const std::shared_ptr<const PartitioningTask>& task)
      : PartitioningEnv(task, task->make_memos()) {}

  void observe(Observations& out) const override;
  [[nodiscard]] std::unique_ptr<Environment> clone() const override;
  // By a PlanningCluster, where the reward is about nothing that it leaves out.
  [[nodiscard]] std::unique_ptr<Environment> imagine(Seed future) const override;
  [[nodiscard]] std::string describe(int action) const override;

  // The waiting job's valid actions as 0/1 [num_actions] (DegreeObservation::mask).
  [[nodiscard]] std::span<const std::uint8_t> mask() const { return observation_.mask(); }
  [[nodiscard]] bool takes(int action) const override {
    return action >= 0 && static_cast<std::size_t>(action) < mask().size() &&
           mask()[static_cast<std::size_t>(action)] != 0;
  }
  [[nodiscard]] std::span<const float> globals() const { return observation_.globals(); }

 private:
  void job_waits(const Cluster& cluster) override;
  [[nodiscard]] JobDecision decision_of(int action) const override;

  std::shared_ptr<const PartitioningTask> task_;
  // Of the waiting job, or of the one that would have come next had the episode not been truncated;
  // after a step that terminated it still that of the last one.
  DegreeObservation observation_;
};

}  // namespace pacml::env

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/tasks/partitioning/task.h"
#include "env/tasks/ramp/environment.h"

namespace pacml::env {

// Action 0 refuses the waiting job, action k lets every op be cut into at most k pieces, which
// first fit places. Thread-confined.
class PartitioningEnv final : public RampEnvironment {
 public:
  // `memo`: the thread's, made by the task.
  PartitioningEnv(std::shared_ptr<const PartitioningTask> task,
                  std::shared_ptr<ExecutionMemo> memo);
  // With a memo of its own.
  explicit PartitioningEnv(const std::shared_ptr<const PartitioningTask>& task)
      : PartitioningEnv(task, task->make_memo()) {}

  void observe(Observations& out) const override;
  [[nodiscard]] std::unique_ptr<Environment> clone() const override;
  [[nodiscard]] std::string describe(int action) const override;

  // The waiting job's valid actions as 0/1 [num_actions]. With `observation: paper` the same as the
  // observation's mask; `cluster` shows those of them that come to something.
  [[nodiscard]] std::span<const std::uint8_t> mask() const { return mask_; }
  [[nodiscard]] bool takes(int action) const override {
    return action >= 0 && static_cast<std::size_t>(action) < mask_.size() &&
           mask_[static_cast<std::size_t>(action)] != 0;
  }
  [[nodiscard]] std::span<const float> globals() const { return globals_; }

 private:
  void job_waits() override;
  [[nodiscard]] JobDecision decision_of(int action) const override;

  std::shared_ptr<const PartitioningTask> task_;
  // The observation of the waiting job, or of the one that would have come next had the episode not
  // been truncated; after a step that terminated it still that of the last one.
  std::uint16_t graph_ = 0;
  std::vector<float> globals_;  // of the paper's observation
  ShownCluster shown_;          // of the cluster's
  std::vector<std::uint8_t> mask_;
  std::vector<std::uint8_t> shown_mask_;
};

}  // namespace pacml::env

#include "env/tasks/partitioning/environment.h"

#include <utility>

#include "common/check.h"
#include "env/tasks/partitioning/imagined_partitioning.h"

namespace pacml::env {

PartitioningEnv::PartitioningEnv(std::shared_ptr<const PartitioningTask> task,
                                 std::shared_ptr<RampMemos> memos)
    : RampEnvironment(task, std::move(memos)), task_(std::move(task)), observation_(*task_) {}

JobDecision PartitioningEnv::decision_of(int action) const {
  if (takes(action)) return {.degree = action};
  PACML_CHECK(!task_->config().apply_action_mask, "the action is masked");
  return {};
}

void PartitioningEnv::job_waits(const Cluster& cluster) {
  observation_.look_at(cluster, ranges(), recent());
}

void PartitioningEnv::observe(Observations& out) const { observation_.write(out); }

std::unique_ptr<Environment> PartitioningEnv::clone() const {
  return std::make_unique<PartitioningEnv>(*this);
}

std::unique_ptr<Environment> PartitioningEnv::imagine(Seed future) const {
  if (depends_on_throughput(task_->config().reward.kind)) return Environment::imagine(future);
  auto cluster = imagined_cluster(future);
  if (!cluster) return Environment::imagine(future);
  return std::make_unique<ImaginedPartitioning>(task_, *std::move(cluster), ranges(), recent());
}

std::string PartitioningEnv::describe(int action) const {
  return action == 0 ? "refuse the job" : "degree " + std::to_string(action);
}

}  // namespace pacml::env

#include "env/tasks/cluster_scheduling/task.h"

#include "env/tasks/cluster_scheduling/baselines.h"

namespace pacml::env {

ClusterSchedulingTask::ClusterSchedulingTask(const ClusterSchedulingConfig& config)
    : GpuSchedulingTask("cluster_scheduling", config,
                        {.offers = config.offers,
                         .reward = config.reward,
                         .own_share = config.own_share,
                         .handover = config.handover,
                         .messages = config.messages},
                        validate(config)) {}

std::vector<Baseline> ClusterSchedulingTask::baselines() const {
  return cluster_scheduling_baselines();
}

std::unique_ptr<Agent> ClusterSchedulingTask::make_agent(std::string_view name) const {
  return make_cluster_scheduling_agent(name);
}

}  // namespace pacml::env

#include "env/tasks/partitioning/task.h"

#include <string>

#include "env/checked.h"
#include "env/graph/profile_library.h"
#include "env/tasks/partitioning/baselines.h"
#include "env/tasks/partitioning/environment.h"

namespace pacml::env {

PartitioningTask::PartitioningTask(const PartitioningConfig& config)
    : PartitioningTask(config, load_profiles(config.profiles, config.workload.models)) {}

PartitioningTask::PartitioningTask(const PartitioningConfig& config,
                                   const std::vector<Profile>& profiles)
    : RampTask("partitioning", checked(config), profiles), config_(config) {
  spec_.observation = observation_spec(config);
  if (const auto shown = servers_shown(config)) {
    show_cluster(*shown, [](const Observations&, std::size_t, int action, int) {
      return JobDecision{.degree = action};
    });
  }
}

EnvironmentFactory PartitioningTask::make_factory() const {
  auto task = std::static_pointer_cast<const PartitioningTask>(shared_from_this());
  return [task = std::move(task), memos = make_memos()] {
    return std::make_unique<PartitioningEnv>(task, memos);
  };
}

std::vector<Baseline> PartitioningTask::baselines() const { return partitioning_baselines(*this); }

std::unique_ptr<Agent> PartitioningTask::make_agent(std::string_view name) const {
  return make_partitioning_agent(*this, name);
}

}  // namespace pacml::env

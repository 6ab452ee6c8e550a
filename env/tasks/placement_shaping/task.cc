#include "env/tasks/placement_shaping/task.h"

#include <utility>

#include "env/checked.h"
#include "env/graph/profile_library.h"
#include "env/tasks/placement_shaping/baselines.h"
#include "env/tasks/placement_shaping/environment.h"
#include "env/tasks/ramp/degree_rule.h"

namespace pacml::env {
namespace {

// A candidate is its degree and the number of its block. Peers are not trusted: what no job can be
// cut at refuses it, and what is no block stands for first fit.
DecisionReader decision_reader(std::shared_ptr<const BlockCatalog> catalog, int max_degree) {
  return [catalog = std::move(catalog), max_degree](const Observations& batch, std::size_t b, int a,
                                                    int model) -> JobDecision {
    const auto features = batch.candidates(b).subspan(2 * static_cast<std::size_t>(a), 2);
    if (!(features[0] >= 1 && features[0] <= static_cast<float>(max_degree))) return {};
    const int degree = static_cast<int>(features[0]);
    const bool is_number = features[1] >= 1 && features[1] < 1e6;
    return {degree,
            is_number ? catalog->block(model, degree, static_cast<int>(features[1])) : nullptr};
  };
}

}  // namespace

PlacementShapingTask::PlacementShapingTask(const PlacementShapingConfig& config)
    : PlacementShapingTask(config, load_profiles(config.profiles, config.workload.models)) {}

PlacementShapingTask::PlacementShapingTask(const PlacementShapingConfig& config,
                                           const std::vector<Profile>& profiles)
    : RampTask("placement_shaping", checked(config), profiles),
      config_(config),
      degrees_(degrees_with_blocks(Topology(config.ramp.topology, config.max_partitions_per_op),
                                   config.max_partitions_per_op)),
      catalog_(std::make_shared<const BlockCatalog>(graphs(), setting(), degrees_)) {
  spec_.observation = observation_spec(config);
  show_cluster(ServersShown::kEach, decision_reader(catalog_, config.max_partitions_per_op));
}

EnvironmentFactory PlacementShapingTask::make_factory() const {
  auto task = std::static_pointer_cast<const PlacementShapingTask>(shared_from_this());
  return [task = std::move(task), memos = make_memos()] {
    return std::make_unique<PlacementShapingEnv>(task, memos);
  };
}

std::vector<Baseline> PlacementShapingTask::baselines() const {
  return placement_shaping_baselines(*this);
}

std::unique_ptr<Agent> PlacementShapingTask::make_agent(std::string_view name) const {
  return make_placement_shaping_agent(name, *this);
}

}  // namespace pacml::env

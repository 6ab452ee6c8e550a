#include "apps/roles/warm_start.h"

#include <cmath>

#include "apps/evaluation/evaluation.h"
#include "env/cluster/topology.h"

namespace pacml::apps {

int warm_start(const WarmStartConfig& config, const env::PartitioningConfig& task,
               const std::vector<env::Profile>& profiles, Seed run,
               const model::ParameterLayout& layout, model::Parameters& parameters) {
  if (config.policy == WarmStart::kNone) return 0;
  const int degree = best_constant_degree(task, profiles, run, config.episodes, 1);
  const env::Topology topology(task.ramp.topology, task.max_partitions_per_op);
  int others = 1;  // refusal
  for (int k = 1; k <= task.max_partitions_per_op; ++k) {
    others += k != degree && topology.has_block_shape(k) ? 1 : 0;
  }
  const auto bias = model::view(parameters, layout, "logits.bias");
  bias[static_cast<std::size_t>(degree)] +=
      static_cast<float>(std::log(config.probability / (1 - config.probability) * others));
  return degree;
}

}  // namespace pacml::apps

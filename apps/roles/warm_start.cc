#include "apps/roles/warm_start.h"

#include <cmath>

#include "env/cluster/topology.h"

namespace pacml::apps {

void prefer_degree(int degree, const WarmStartConfig& config, const env::PartitioningConfig& task,
                   const model::ParameterLayout& layout, model::Parameters& parameters) {
  const env::Topology topology(task.ramp.topology, task.max_partitions_per_op);
  int others = 1;  // refusal
  for (int k = 1; k <= task.max_partitions_per_op; ++k) {
    others += k != degree && topology.has_block_shape(k) ? 1 : 0;
  }
  const auto bias = model::view(parameters, layout, "logits.bias");
  bias[static_cast<std::size_t>(degree)] +=
      static_cast<float>(std::log(config.probability / (1 - config.probability) * others));
}

}  // namespace pacml::apps

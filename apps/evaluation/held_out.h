#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "env/graph/profile.h"
#include "env/tasks/partitioning.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::apps {

// Scores policies during training, always on the same episodes, so that two scores differ by the
// policies alone. These episodes choose the best policy; comparisons (`pacml eval`) use others.
// Thread-confined.
class HeldOutEvaluator {
 public:
  HeldOutEvaluator(const env::PartitioningConfig& config, const std::vector<env::Profile>& profiles,
                   const model::NetworkShape& shape, Seed run, std::int64_t episodes);
  ~HeldOutEvaluator();

  // Mean blocking rate of the greedy policy, NaN with no episodes, as long as `goes_on`, which is
  // asked again and again; nullopt: it did not to the end, or what the policy says cannot be acted
  // upon (UnsoundPolicy).
  [[nodiscard]] std::optional<double> blocking_rate(
      const model::Parameters& parameters,
      const std::function<bool()>& goes_on = [] { return true; });

 private:
  model::NetworkShape shape_;
  std::shared_ptr<const env::PartitioningWorld> world_;
  env::PartitioningEnv environment_;
  std::vector<Seed> seeds_;
};

}  // namespace pacml::apps

#pragma once

#include "env/graph/profile_library.h"
#include "env/tasks/partitioning.h"
#include "learner/checkpoint.h"
#include "model/layout.h"
#include "tests/support/pacml_process.h"

namespace pacml::testing {

// The newest checkpoint of a workplace's run, which has the tiny configuration's network.
inline learner::Checkpoint newest_checkpoint(const Workplace& place) {
  const auto config = tiny_config();
  const env::PartitioningWorld world(
      config.env, env::load_profiles(config.env.profiles, config.env.workload.models));
  const auto layout = model::make_layout(model::make_shape(config.network, world.spec()));
  return learner::load_newest(learner::CheckpointFolder(place / "run" / "checkpoints", 1), layout)
      .checkpoint;
}

}  // namespace pacml::testing

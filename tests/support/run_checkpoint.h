#pragma once

#include "learner/checkpoint.h"
#include "model/layout.h"
#include "tests/support/pacml_process.h"

namespace pacml::testing {

// The newest checkpoint of a workplace's run, which has the tiny configuration's network.
inline learner::Checkpoint newest_checkpoint(const Workplace& place) {
  const auto config = tiny_config();
  const auto task = config.env.make();
  const auto layout = model::make_layout(model::make_shape(config.network, task->spec()));
  return learner::load_newest(learner::CheckpointFolder(place / "run" / "checkpoints", 1), layout)
      .checkpoint;
}

}  // namespace pacml::testing

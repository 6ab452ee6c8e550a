#pragma once

#include "actor/actor_config.h"
#include "bench/figures.h"
#include "env/task_config.h"
#include "model/network_config.h"

namespace pacml::bench {

// An actor without a learner, on one core: simulator, observations, features, network and the
// messages' columns; everything but sending them. The network's weights are random.
//   decisions_per_second     median over repetitions, after a warm-up of seconds
// Pre: the network reads what the task shows (PACML_CHECK).
[[nodiscard]] Figures run_acting_bench(const env::TaskConfig& task,
                                       const model::NetworkConfig& network,
                                       const actor::ActorConfig& actor, int repetitions);

}  // namespace pacml::bench

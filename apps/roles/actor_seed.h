#pragma once

#include <optional>

#include "common/ids.h"
#include "common/rng.h"

namespace pacml::apps {

// The streams of one life of an actor, which joined the run at these weights. Of an actor that is a
// process they are its life's alone: one that is started again while the weights are what they were
// plays other episodes than before. Pure.
[[nodiscard]] inline Seed actor_seed(Seed run, ActorId actor, PolicyVersion joined_at,
                                     std::optional<Incarnation> life = {}) {
  const Seed seed = derive(derive(run, Purpose::kExploration, actor.get()), Purpose::kExploration,
                           joined_at.get());
  return life ? derive(seed, Purpose::kExploration, life->get()) : seed;
}

}  // namespace pacml::apps

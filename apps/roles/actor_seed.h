#pragma once

#include "common/ids.h"
#include "common/rng.h"

namespace pacml::apps {

// The streams of one life of an actor. An actor that is started again finds other weights, and so
// draws other streams than before. Pure.
[[nodiscard]] inline Seed actor_seed(Seed run, ActorId actor, PolicyVersion joined_at) {
  return derive(derive(run, Purpose::kExploration, actor.get()), Purpose::kExploration,
                joined_at.get());
}

}  // namespace pacml::apps

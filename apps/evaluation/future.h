#pragma once

#include <cstdint>
#include <functional>

#include "env/environment.h"

namespace pacml::apps {

// What comes of a decision: the same state and the same arrivals, from there on.
struct Future {
  std::int64_t decisions = 0;  // of the episode's: fewer than asked for where it ends before
  std::int64_t lost = 0;       // that came to nothing, where the environment can say
  double reward = 0;           // of all of them
};

// On a copy of `start`: `action`, and then what `decide` says, `horizon` >= 1 decisions together.
[[nodiscard]] Future follow(const env::Environment& start, int action,
                            const std::function<int(const env::Environment&)>& decide,
                            std::int64_t horizon);

}  // namespace pacml::apps

#pragma once

#include <cstdint>
#include <functional>

#include "env/environment.h"

namespace pacml::apps {

// What everybody got in the last step, whose result that is.
[[nodiscard]] double reward_of_all(const env::StepResult& result,
                                   const env::Environment& environment);

// Whether a decision can be told to be a loss (env::Pictured).
[[nodiscard]] bool tells_losses(const env::Environment& environment);

// What comes of a decision: the same state and the same arrivals, from there on.
struct Future {
  std::int64_t decisions = 0;  // of the episode's: fewer than asked for where it ends before
  std::int64_t lost = 0;       // jobs, where the environment can say
  double reward = 0;           // of all of them, everybody's
  double elapsed = 0;          // the environment's time, in its unit of discounting
  bool is_over = false;        // the episode has ended
};

using Decide = std::function<int(const env::Environment&)>;

// On a copy of `start`: `action`, and then what `decide` says, `horizon` >= 1 decisions together.
[[nodiscard]] Future follow(const env::Environment& start, int action, const Decide& decide,
                            std::int64_t horizon);

// The same for as long as `other` of the same state lasted, or to the episode's end as that one
// did: where decisions take unequal times, as many of them would be another stretch of time. Of a
// step that goes on beyond it, rewards count by the share of its time that is within. At most 16
// times as many decisions.
[[nodiscard]] Future follow_beside(const Future& other, const env::Environment& start, int action,
                                   const Decide& decide);

}  // namespace pacml::apps

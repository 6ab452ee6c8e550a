#pragma once

#include <span>

#include "actor/experience_sink.h"
#include "actor/vector_env.h"
#include "common/experience/observations.h"
#include "common/ids.h"
#include "env/environment.h"
#include "model/policy.h"

namespace pacml::actor {

// What of an actor depends on the algorithm: how it chooses among actions, and what it records of
// them. A message is begin(), then steps, each of them one choose() and one record(), until full()
// is true, then take().
// Deterministic given its seed and what it is told. Thread-confined.
class Behaviour {
 public:
  virtual ~Behaviour() = default;
  // A message begins, of these B of the actor's environments, row by row.
  virtual void begin(std::span<const std::size_t> environments) = 0;
  // A valid action for each environment [B], given what the policy says of its observation.
  // Borrowed until the next call.
  [[nodiscard]] virtual std::span<const int> choose(const Observations& observations,
                                                    const model::PolicyOutput& output) = 0;
  // What came of the actions chosen last, with weights of `version`: results [B]; the rows whose
  // environments finished, and the last observation of each (row i belongs to finished[i]).
  virtual void record(PolicyVersion version, std::span<const env::StepResult> results,
                      std::span<const VectorEnv::Finished> finished,
                      const Observations& last_observations) = 0;
  // True when a message's worth of steps is recorded.
  [[nodiscard]] virtual bool full() const = 0;
  // The message. `next_observations`: those that follow its last step.
  [[nodiscard]] virtual ActorMessage take(const Observations& next_observations) = 0;
};

}  // namespace pacml::actor

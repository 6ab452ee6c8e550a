#pragma once

#include <span>

#include "actor/experience_sink.h"
#include "actor/vector_env.h"
#include "common/ids.h"
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
  // Whether it reads the policy's values, too.
  [[nodiscard]] virtual bool reads_values() const { return false; }
  // A valid action for each of the environments as they are [B], given what the policy with weights
  // of `version` says of their observations. Borrowed until the next call. UnsoundOutput: elsewhere
  // it says nothing that can be acted upon; to be called again, with what other weights say.
  [[nodiscard]] virtual std::span<const int> choose(const VectorEnv& environments,
                                                    const model::PolicyOutput& output,
                                                    PolicyVersion version) = 0;
  // What came of the actions chosen last.
  virtual void record(const VectorEnv::Outcome& outcome) = 0;
  // True when a message's worth of steps is recorded.
  [[nodiscard]] virtual bool full() const = 0;
  // The message; the environments are as its last step has left them.
  [[nodiscard]] virtual ActorMessage take(const VectorEnv& environments) = 0;
};

}  // namespace pacml::actor

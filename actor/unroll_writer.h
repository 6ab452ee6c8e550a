#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "actor/vector_env.h"
#include "common/experience/observations.h"
#include "common/experience/unrolls.h"

namespace pacml::actor {

// Turns steps of B environments in lockstep into messages of T steps each. Consecutive messages of
// the same environments share one row of observations: the last row of one is the first of the
// next. Thread-confined.
class UnrollWriter {
 public:
  UnrollWriter(const env::EnvironmentSpec& spec, std::size_t environments, std::size_t steps);

  // The next message is of so many environments; else of as many as the one before.
  void begin(std::size_t environments);
  // What the next actions answer. Once per step, before `step`.
  void observe(const Observations& observations);
  // The actions [B], their log-probabilities under the behaviour policy [B] and what came of them.
  void step(std::span<const int> actions, std::span<const float> log_probs, PolicyVersion version,
            std::span<const env::StepResult> results, std::span<const VectorEnv::Finished> finished,
            const Observations& last_observations);
  // True when T steps are written; then `take`, with the observations that follow the last step.
  [[nodiscard]] bool full() const { return next_ == unrolls_.steps; }
  [[nodiscard]] Unrolls take(const Observations& next_observations);

 private:
  void start();
  // B rows more.
  void write_rows(const Observations& observations);

  Observations nothing_;  // the spec's shape and graphs, without rows
  std::uint32_t environments_, steps_;
  Unrolls unrolls_;
  Observations last_states_;  // of unrolls_.cut, until the message is taken
  std::size_t next_ = 0;      // step to be written
};

}  // namespace pacml::actor

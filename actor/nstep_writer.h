#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actor/nstep_config.h"
#include "actor/vector_env.h"
#include "common/experience/observations.h"
#include "common/experience/transitions.h"

namespace pacml::actor {

// Turns steps of B of an actor's environments in lockstep into n-step transitions, one for each
// decision:
//
//   R = sum of gamma^i r_{t+i} over i < k,   bootstrapped with gamma^k max Q(s_{t+k}, .)
//
// where k = n, or what the episode has left. At the end of an episode that was truncated, s_{t+k}
// is its last state; of one that terminated, the discount is 0 and s_{t+k} is s_t again, a
// placeholder with a valid mask. The priority is |R + gamma^k max Q(s_{t+k}, .) - Q(s_t, a_t)|,
// from action values that the network had when it acted. Decisions whose window is still open when
// a message is taken go into a later one. Allocates once a message. Thread-confined.
class NstepWriter {
 public:
  // A message covers `steps` steps.
  NstepWriter(const env::EnvironmentSpec& spec, std::size_t environments, std::size_t steps,
              const NstepConfig& config);

  // The rows of the next message are these of the environments; else those of the one before, and
  // of the first one all, in order.
  void begin(std::span<const std::size_t> environments);
  // What the next actions answer, and the greatest value of a valid action there [B]. Once per
  // step, before `step`.
  void observe(const Observations& observations, std::span<const float> best_values);
  // The actions [B], their values [B] and what came of them. `last_best_values`: as best_values, of
  // the rows of `last_observations`; read where an episode was truncated and did not terminate.
  void step(std::span<const int> actions, std::span<const float> action_values,
            PolicyVersion version, std::span<const env::StepResult> results,
            std::span<const VectorEnv::Finished> finished, const Observations& last_observations,
            std::span<const float> last_best_values);
  // True when the steps of a message are written; then `take`. The first messages may be short of
  // transitions, even empty: their windows are open.
  [[nodiscard]] bool full() const { return steps_done_ == steps_; }
  [[nodiscard]] PrioritizedTransitions take();

 private:
  // A decision whose window is open.
  struct Decision {
    PolicyVersion version;
    float value = 0;  // Q(s, a)
    float reward = 0;
    int action = 0;
  };
  // Decisions of one environment, in a ring of n slots.
  struct Window {
    std::size_t oldest = 0;
    std::size_t open = 0;
  };

  void start();
  [[nodiscard]] std::size_t slot(std::size_t b, std::size_t age) const {
    return b * n_ + (windows_[b].oldest + age) % n_;
  }
  // Writes the transition of environment b's oldest decision, which led to a row of `next`; its
  // steps are those that are open.
  void close_oldest(std::size_t b, float discount, const Observations& next, std::size_t next_row,
                    float next_value);

  std::size_t steps_, n_;
  std::vector<std::size_t> environments_;  // [B], in the rows
  Observations nothing_;                   // the spec's shape and graphs, without rows
  float reward_scale_;
  std::vector<double> powers_;  // [n + 1], of gamma

  std::vector<Window> windows_;       // [all environments]
  std::vector<Decision> decisions_;   // [all, n]
  std::vector<Observations> states_;  // [all, n], of each decision one row

  PrioritizedTransitions message_;
  std::size_t steps_done_ = 0;
};

}  // namespace pacml::actor

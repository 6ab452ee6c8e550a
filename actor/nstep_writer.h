#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actor/nstep_config.h"
#include "actor/vector_env.h"
#include "common/experience/observations.h"
#include "common/experience/transitions.h"

namespace pacml::actor {

// Turns steps of B of an actor's environments in lockstep into n-step transitions, one for each
// decision; t counts those of its agent in its environment:
//
//   R = sum of gamma^e_i r_{t+i} over i < k,   bootstrapped with gamma^e_k max Q(s_{t+k}, .)
//   T = sum of gamma^e_i (e_{i+1} - e_i),      the discounted time of those rewards
//
// where k = n, or what the episode has left, r_{t+i} and the time that passed are what the
// decisions came to (env/environment.h), and e_i = i where each took 1, else the sum of what the i
// decisions before took. At the end of an episode that was truncated, s_{t+k} is its last state; of
// one that terminated, the discount is 0 and s_{t+k} is s_t again, a placeholder with a valid mask.
// The priority is |R + gamma^e_k max Q(s_{t+k}, .) - Q(s_t, a_t)|, from action values that the
// network had when it acted. Decisions whose window is still open when a message is taken go into a
// later one. Allocates once a message. Thread-confined.
class NstepWriter {
 public:
  // A message covers `steps` steps.
  NstepWriter(const env::EnvironmentSpec& spec, std::size_t environments, std::size_t steps,
              const NstepConfig& config);

  // The rows of the next message are these of the environments; else those of the one before, and
  // of the first one all, in order.
  void begin(std::span<const std::size_t> environments);
  // What the next actions answer, whose they are and the greatest value of a valid action there
  // [B]. Once per step, before `step`.
  void observe(const Observations& observations, std::span<const int> agents,
               std::span<const float> best_values);
  // The actions [B], their values [B] and what came of them. `last_best_values`: as best_values, of
  // the outcome's last observations. UserError, here and in observe(): rewards add up to what is
  // not finite.
  void step(std::span<const int> actions, std::span<const float> action_values,
            PolicyVersion version, const VectorEnv::Outcome& outcome,
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
    int action = 0;
    double reward = 0;   // scaled; of the last decision so far,
    double elapsed = 0;  // as this
  };
  // Decisions of one agent of one environment, in a ring of n slots.
  struct Window {
    std::size_t oldest = 0;
    std::size_t open = 0;
    std::vector<Decision> decisions;   // [n]
    std::vector<Observations> states;  // [n], of each decision one row

    [[nodiscard]] std::size_t slot(std::size_t age) const {
      return (oldest + age) % decisions.size();
    }
    // Pre: open > 0.
    [[nodiscard]] Decision& last() { return decisions[slot(open - 1)]; }
  };

  void start();
  [[nodiscard]] Window& window(std::size_t environment, int agent);
  // gamma^elapsed.
  [[nodiscard]] double discount(double elapsed) const;
  // Writes the transition of a window's oldest decision, which led to a row of `next`, or to the
  // end: its steps are those that are open.
  void close_oldest(Window& window, bool terminated, const Observations& next, std::size_t next_row,
                    float next_value);

  std::string task_;  // its name
  std::size_t steps_, n_;
  std::vector<std::size_t> environments_;  // [B], in the rows
  Observations nothing_;                   // the spec's shape and graphs, without rows
  float reward_scale_;
  double gamma_;
  std::vector<double> powers_;  // [n + 1], of gamma

  std::vector<std::vector<Window>> windows_;  // [all environments, agents that have decided]
  std::vector<int> agents_;                   // [B], of the step to come

  PrioritizedTransitions message_;
  std::size_t steps_done_ = 0;
};

}  // namespace pacml::actor

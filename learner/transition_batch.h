#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "common/experience/transitions.h"
#include "common/ids.h"
#include "learner/graph_registry.h"

namespace pacml::learner {

// N transitions that were drawn from a replay, columns apart. Graphs are the registry's. Value
// type; using one again saves its allocations.
struct TransitionBatch {
  Observations states;                  // [N], s_t
  Observations next_states;             // [N], s_{t+k}
  std::vector<std::int32_t> actions;    // [N], a_t, valid in its state
  std::vector<float> n_step_returns;    // [N], as the actor scaled its rewards
  std::vector<float> discounted_times;  // [N], of the k decisions, > 0
  std::vector<float> discounts;         // [N], of the value of s_{t+k}; 0: the episode terminated
  std::vector<PolicyVersion> policy_versions;  // [N], the weights that chose the action
  std::vector<double> probabilities;           // [N], of each draw; in (0, 1]

  [[nodiscard]] std::size_t size() const { return actions.size(); }
};

// Replaces `batch` by `transitions`. Pre: validate() and fits() hold, and there is one probability
// per row (PACML_CHECK).
void assemble(const Transitions& transitions, std::span<const double> probabilities,
              const GraphRegistry& graphs, TransitionBatch& batch);

}  // namespace pacml::learner

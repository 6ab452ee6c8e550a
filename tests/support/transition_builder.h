#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/experience/transitions.h"

namespace pacml {

// A transition between two states that are one number each, the first global feature. Empty masks
// stand for whole ones.
struct PlainTransition {
  float state = 0;
  int action = 0;
  float n_step_return = 0;
  float discount = 0;
  float next_state = 0;
  std::vector<std::uint8_t> mask = {};
  std::vector<std::uint8_t> next_mask = {};
  std::uint64_t version = 0;
};

// All in one graph. Further global features are 0.
inline Transitions plain_transitions(std::span<const PlainTransition> rows, GraphHash graph,
                                     std::uint32_t num_globals = 1, std::uint32_t num_actions = 3) {
  Transitions out;
  out.shape = {num_globals, num_actions};
  out.graphs = {graph};
  const std::vector<std::uint8_t> whole(num_actions, 1);
  for (const PlainTransition& row : rows) {
    std::vector<float> globals(num_globals);
    std::vector<float> next_globals(num_globals);
    globals[0] = row.state;
    next_globals[0] = row.next_state;
    TransitionHead head;
    head.policy_version = PolicyVersion{row.version};
    head.n_step_return = row.n_step_return;
    head.discount = row.discount;
    head.action = static_cast<std::int16_t>(row.action);
    head.steps = 1;
    out.append(head, {0, globals, row.mask.empty() ? whole : row.mask},
               {0, next_globals, row.next_mask.empty() ? whole : row.next_mask});
  }
  return out;
}

}  // namespace pacml

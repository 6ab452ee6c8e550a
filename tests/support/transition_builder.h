#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/experience/transitions.h"
#include "tests/support/plain_observations.h"

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
  Transitions out(plain_shape(num_globals, num_actions));
  out.observations.set_graphs({graph});
  const std::vector<std::uint8_t> whole(num_actions, 1);
  const auto append_state = [&](float state, const std::vector<std::uint8_t>& mask) {
    append_plain(out.observations, 0, std::vector{state}, mask.empty() ? whole : mask);
  };
  for (const PlainTransition& row : rows) {
    out.heads.push_back({.policy_version = PolicyVersion{row.version},
                         .n_step_return = row.n_step_return,
                         .discount = row.discount,
                         .action = row.action,
                         .discounted_time = 1});
    append_state(row.state, row.mask);
    append_state(row.next_state, row.next_mask);
  }
  return out;
}

}  // namespace pacml

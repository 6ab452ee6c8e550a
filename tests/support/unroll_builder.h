#pragma once

#include <cstdint>
#include <vector>

#include "common/experience/unrolls.h"
#include "tests/support/plain_observations.h"

namespace pacml {

// Unrolls of the given shape with one graph, whole masks, equal actions and no ends: a start for
// tests to change. Each number says where it is: globals are 1000 t + 10 b + g, rewards t + b / 10.
inline Unrolls plain_unrolls(std::uint32_t steps, std::uint32_t environments, GraphHash graph,
                             std::uint32_t num_globals = 2, std::uint32_t num_actions = 3) {
  Unrolls out;
  out.steps = steps;
  out.environments = environments;
  resize_columns(out, 0, 0);
  out.observations = Observations(plain_shape(num_globals, num_actions));
  out.observations.set_graphs({graph});
  for (std::size_t t = 0; t <= steps; ++t) {
    for (std::size_t b = 0; b < environments; ++b) {
      const ObservationRow row = out.observations.append();
      for (std::size_t g = 0; g < num_globals; ++g) {
        row.globals[g] = static_cast<float>(1000 * t + 10 * b + g);
      }
      for (std::uint8_t& valid : row.mask) valid = 1;
      if (t < steps) out.reward[out.at(t, b)] = static_cast<float>(t) + static_cast<float>(b) / 10;
    }
  }
  for (float& log_prob : out.behaviour_log_prob) log_prob = -1;
  return out;
}

}  // namespace pacml

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/experience/sequences.h"
#include "tests/support/plain_observations.h"

namespace pacml {

// Of weights of this version, all of them.
inline void set_version(Sequences& sequences, std::uint64_t version) {
  sequences.versions = {{PolicyVersion{version}, sequences.num_decisions()}};
}

// The row of what decision i answered.
inline std::size_t row_of(const Sequences& sequences, std::size_t i) {
  std::size_t row = i;
  std::size_t end = 0;
  for (const std::uint32_t length : sequences.lengths) {
    end += length;
    if (i < end) break;
    ++row;
  }
  return row;
}

// Sequences of these lengths with one graph, whole masks, equal actions and no ends: a start for
// tests to change. Each number says where it is: globals of step t of sequence b are 1000 t + 10 b
// + g, rewards t + b / 10.
inline Sequences plain_sequences(std::vector<std::uint32_t> lengths, GraphHash graph,
                                 std::uint32_t num_globals = 2, std::uint32_t num_actions = 3) {
  Sequences out;
  out.lengths = std::move(lengths);
  out.first_step.resize(out.size());
  out.observations = Observations(plain_shape(num_globals, num_actions));
  out.observations.set_graphs({graph});
  for (std::size_t b = 0; b < out.size(); ++b) {
    for (std::size_t t = 0; t <= out.lengths[b]; ++t) {
      const ObservationRow row = out.observations.append();
      for (std::size_t g = 0; g < num_globals; ++g) {
        row.globals[g] = static_cast<float>(1000 * t + 10 * b + g);
      }
      for (std::uint8_t& valid : row.mask) valid = 1;
      if (t == out.lengths[b]) continue;
      out.reward.push_back(static_cast<float>(t) + static_cast<float>(b) / 10);
    }
  }
  out.action.resize(out.reward.size());
  out.flags.resize(out.reward.size());
  out.behaviour_log_prob.assign(out.reward.size(), -1);
  set_version(out, 0);
  return out;
}

// ... as many of one length as there are environments.
inline Sequences plain_sequences(std::uint32_t steps, std::uint32_t environments, GraphHash graph,
                                 std::uint32_t num_globals = 2, std::uint32_t num_actions = 3) {
  return plain_sequences(std::vector(environments, steps), graph, num_globals, num_actions);
}

}  // namespace pacml

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "common/experience/unrolls.h"
#include "common/ids.h"
#include "common/result.h"

namespace pacml {

// How wide a transition is.
struct TransitionShape {
  std::uint32_t num_globals = 0;  // G
  std::uint32_t num_actions = 0;  // A >= 1

  // Bytes of a row: a multiple of 8. 200 for the 17 features and 17 actions of the published task.
  [[nodiscard]] std::size_t row_bytes() const {
    const std::size_t used = 24 + 2 * (std::size_t{num_globals} * sizeof(float) + num_actions);
    return (used + 7) / 8 * 8;
  }
  bool operator==(const TransitionShape&) const = default;
};

// What a transition is besides its two states. In state s_t the action was taken; k <= n steps
// later, or where the episode ended, the state was s_{t+k}.
struct TransitionHead {
  PolicyVersion policy_version;  // of the weights that chose the action
  float n_step_return = 0;       // r_t + gamma r_{t+1} + ... + gamma^{k-1} r_{t+k-1}; finite
  float discount = 0;            // gamma^k, of the value of s_{t+k}; 0: terminated. In [0, 1]
  std::uint16_t graph = 0;       // of s_t, an index into Transitions::graphs
  std::uint16_t next_graph = 0;  // of s_{t+k}
  std::int16_t action = 0;       // in [0, A), valid under the mask of s_t
  std::uint16_t steps = 0;       // k >= 1
  bool operator==(const TransitionHead&) const = default;
};
static_assert(sizeof(TransitionHead) == 24);

// One observation, borrowed.
struct TransitionState {
  std::uint16_t graph = 0;
  std::span<const float> globals;      // [G]
  std::span<const std::uint8_t> mask;  // [A]
};

// N n-step transitions, row after row: what an actor sends, what a replay table stores, row by row,
// without looking into it, and what a learner draws. A row is its head, the global features of s_t
// and of s_{t+k} (f32), their masks (u8) and zeroes up to a multiple of 8 bytes. Value type;
// owning.
struct Transitions {
  TransitionShape shape;
  std::vector<GraphHash> graphs;  // what the rows index
  Bytes rows;                     // [N, row_bytes]

  [[nodiscard]] std::size_t size() const { return rows.size() / shape.row_bytes(); }
  [[nodiscard]] std::span<const std::byte> row(std::size_t i) const {
    return std::span(rows).subspan(i * shape.row_bytes(), shape.row_bytes());
  }
  // Adds a row. `head` has its own graph indices; those of the states are ignored. Pre: widths are
  // the shape's.
  void append(const TransitionHead& head, const TransitionState& state,
              const TransitionState& next);

  bool operator==(const Transitions&) const = default;
};

// Reading a row, by copies, since rows may start at any address. Pre: the row is of this shape.
[[nodiscard]] TransitionHead read_head(std::span<const std::byte> row);
// Replaces the two graph indices of a row.
void write_graphs(std::span<std::byte> row, std::uint16_t graph, std::uint16_t next_graph);
// The columns of s_t (next: false) or s_{t+k} into spans [G] and [A].
void read_state(std::span<const std::byte> row, const TransitionShape& shape, bool next,
                std::span<float> globals, std::span<std::uint8_t> mask);

// What an actor sends at once.
struct PrioritizedTransitions {
  Transitions transitions;
  // [N], the magnitude of each transition's temporal-difference error by the actor's own network.
  // Anything but a finite number >= 0 is refused by the table that it is for, not here.
  std::vector<float> priorities;
  std::vector<EpisodeRecord> episodes;  // that ended meanwhile
  bool operator==(const PrioritizedTransitions&) const = default;
};

// The largest message that is believed.
struct TransitionLimits {
  std::uint32_t max_transitions = 1U << 20;
  std::uint32_t max_globals = 4096;
  std::uint32_t max_actions = 4096;
  std::uint32_t max_graphs = 4096;
  std::uint32_t max_episodes = 1U << 16;
};

// Whether everything above holds: sizes, indices, finite numbers, masks with a valid action,
// actions valid under their masks. kOverLimit or kCorruptFrame with a sentence. Pure.
[[nodiscard]] Result<void> validate(const Transitions& transitions,
                                    const TransitionLimits& limits = {});

}  // namespace pacml

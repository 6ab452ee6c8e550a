#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "common/experience/observations.h"
#include "common/experience/sequences.h"
#include "common/ids.h"
#include "common/result.h"

namespace pacml {

// What a transition is besides its two states. In state s_t the action was taken; k <= n steps
// later, or where the episode ended, the state was s_{t+k}.
struct TransitionHead {
  PolicyVersion policy_version{};  // of the weights that chose the action
  float n_step_return = 0;         // r_t + gamma r_{t+1} + ... + gamma^{k-1} r_{t+k-1}; finite
  float discount = 0;              // gamma^k, of the value of s_{t+k}; 0: terminated. In [0, 1]
  std::int32_t action = 0;         // a candidate of s_t, valid under its mask
  // Of the time that the k decisions took, each one's discounted as its reward is: what a reward of
  // 1 in each unit of time would make of the return. Finite, > 0.
  float discounted_time = 0;
  bool operator==(const TransitionHead&) const = default;
};
static_assert(sizeof(TransitionHead) == 24);  // without gaps: it crosses the wire as it is

// N n-step transitions, in columns: what an actor sends and what a learner draws. A replay table
// stores them one by one, each as a run of bytes (pack_transition). Value type; owning.
struct Transitions {
  std::vector<TransitionHead> heads;  // [N]
  Observations observations;          // [2 N]: s_t of transition i is row 2 i, s_{t+k} row 2 i + 1

  Transitions() = default;
  explicit Transitions(ObservationShape shape) : observations(std::move(shape)) {}

  [[nodiscard]] std::size_t size() const { return heads.size(); }
  [[nodiscard]] static std::size_t state(std::size_t i) { return 2 * i; }
  [[nodiscard]] static std::size_t next_state(std::size_t i) { return 2 * i + 1; }

  // Adds a transition between a row of `states` and one of `next_states`.
  void append(const TransitionHead& head, const Observations& states, std::size_t state,
              const Observations& next_states, std::size_t next_state);

  bool operator==(const Transitions&) const = default;
};

// Bytes of a packed transition between the largest rows of that shape.
[[nodiscard]] std::size_t packed_bytes(const ObservationShape& shape, std::size_t most_nodes = 0);

// Replaces `out` by transition i, with graph_index[g] for graph g.
void pack_transition(const Transitions& transitions, std::size_t i,
                     std::span<const std::uint16_t> graph_index, Bytes& out);
// Adds a packed transition. False: it is not one of this shape, and the transitions are not to be
// used any more.
[[nodiscard]] bool append_packed(std::span<const std::byte> packed, Transitions& transitions);

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
  std::uint32_t max_episodes = 1U << 20;  // each of one decision, perhaps
  ObservationLimits observations;
};

// Whether everything above holds: two observations a transition, finite numbers, actions valid
// under their masks. kOverLimit or kCorruptFrame with a sentence. Pure.
[[nodiscard]] Result<void> validate(const Transitions& transitions,
                                    const TransitionLimits& limits = {});

}  // namespace pacml

#include "common/experience/transitions.h"

#include <cmath>
#include <cstring>
#include <string>

#include "common/check.h"

namespace pacml {
namespace {

tl::unexpected<Error> corrupt_transitions(const char* what) {
  return fail(Errc::kCorruptFrame, std::string("transitions: ") + what);
}

Result<void> check_head(const TransitionHead& head, std::span<const std::uint8_t> mask) {
  if (!std::isfinite(head.n_step_return)) return corrupt_transitions("a return is not finite");
  if (!(head.discount >= 0 && head.discount <= 1))
    return corrupt_transitions("a discount is not in 0..1");
  if (!(std::isfinite(head.discounted_time) && head.discounted_time > 0)) {
    return corrupt_transitions("a transition takes no time, or no end of it");
  }
  if (head.action < 0 || static_cast<std::size_t>(head.action) >= mask.size()) {
    return corrupt_transitions("an action is out of range");
  }
  if (mask[static_cast<std::size_t>(head.action)] == 0) {
    return corrupt_transitions("an action was not allowed by its mask");
  }
  return {};
}

}  // namespace

void Transitions::append(const TransitionHead& head, const Observations& states, std::size_t state,
                         const Observations& next_states, std::size_t next_state) {
  heads.push_back(head);
  observations.append_row(states, state);
  observations.append_row(next_states, next_state);
}

std::size_t packed_bytes(const ObservationShape& shape, std::size_t most_nodes) {
  return sizeof(TransitionHead) + 2 * shape.row_bytes(most_nodes);
}

void pack_transition(const Transitions& transitions, std::size_t i,
                     std::span<const std::uint16_t> graph_index, Bytes& out) {
  out.resize(sizeof(TransitionHead));
  std::memcpy(out.data(), &transitions.heads[i], sizeof(TransitionHead));
  transitions.observations.pack_row(Transitions::state(i), graph_index, out);
  transitions.observations.pack_row(Transitions::next_state(i), graph_index, out);
}

bool append_packed(std::span<const std::byte> packed, Transitions& transitions) {
  if (packed.size() < sizeof(TransitionHead)) return false;
  TransitionHead& head = transitions.heads.emplace_back();
  std::memcpy(&head, packed.data(), sizeof(head));
  packed = packed.subspan(sizeof(head));
  Observations& observations = transitions.observations;
  return observations.append_packed(packed) && observations.append_packed(packed) && packed.empty();
}

Result<void> validate(const Transitions& transitions, const TransitionLimits& limits) {
  if (transitions.size() > limits.max_transitions) {
    return fail(Errc::kOverLimit, "transitions: larger than the limits allow");
  }
  const Observations& observations = transitions.observations;
  if (observations.size() != 2 * transitions.size()) {
    return corrupt_transitions("not two observations for each");
  }
  if (auto ok = validate(observations, limits.observations); !ok) return ok;
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    const auto mask = observations.mask(Transitions::state(i));
    if (auto ok = check_head(transitions.heads[i], mask); !ok) return ok;
  }
  return {};
}

}  // namespace pacml

#include "common/experience/transitions.h"

#include <cmath>
#include <cstring>
#include <string>

#include "common/check.h"

namespace pacml {
namespace {

constexpr std::size_t kHead = sizeof(TransitionHead);

struct Offsets {
  std::size_t globals, next_globals, mask, next_mask;
};

Offsets offsets_of(const TransitionShape& shape) {
  const std::size_t globals = shape.num_globals * sizeof(float);
  return {kHead, kHead + globals, kHead + 2 * globals, kHead + 2 * globals + shape.num_actions};
}

tl::unexpected<Error> corrupt(const char* what) {
  return fail(Errc::kCorruptFrame, std::string("transitions: ") + what);
}

// Whether the mask holds only 0 and 1, and a 1.
bool is_mask(std::span<const std::byte> mask) {
  unsigned any = 0;
  for (const std::byte valid : mask) any |= std::to_integer<unsigned>(valid);
  return any == 1;
}

Result<void> check_row(std::span<const std::byte> row, const TransitionShape& shape,
                       std::size_t graphs) {
  const TransitionHead head = read_head(row);
  const Offsets at = offsets_of(shape);
  if (head.graph >= graphs || head.next_graph >= graphs) {
    return corrupt("a graph index is out of range");
  }
  if (!std::isfinite(head.n_step_return)) return corrupt("a return is not finite");
  if (!(head.discount >= 0 && head.discount <= 1)) return corrupt("a discount is not in 0..1");
  if (head.steps == 0) return corrupt("a transition of no steps");
  if (head.action < 0 || static_cast<std::uint32_t>(head.action) >= shape.num_actions) {
    return corrupt("an action is out of range");
  }
  // All exponent bits set: infinite or not a number. Both states lie behind one another.
  for (std::size_t i = at.globals; i < at.mask; i += sizeof(float)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, row.data() + i, sizeof(bits));
    if ((bits & 0x7F800000U) == 0x7F800000U) return corrupt("a feature is not finite");
  }
  if (!is_mask(row.subspan(at.mask, shape.num_actions)) ||
      !is_mask(row.subspan(at.next_mask, shape.num_actions))) {
    return corrupt("a mask holds something other than 0 and 1, or allows no action");
  }
  if (row[at.mask + static_cast<std::size_t>(head.action)] == std::byte{0}) {
    return corrupt("an action was not allowed by its mask");
  }
  return {};
}

}  // namespace

void Transitions::append(const TransitionHead& head, const TransitionState& state,
                         const TransitionState& next) {
  PACML_CHECK(state.globals.size() == shape.num_globals &&
                  next.globals.size() == shape.num_globals &&
                  state.mask.size() == shape.num_actions && next.mask.size() == shape.num_actions,
              "states of the shape's widths");
  const std::size_t begin = rows.size();
  rows.resize(begin + shape.row_bytes());
  std::byte* const row = rows.data() + begin;
  const Offsets at = offsets_of(shape);
  std::memcpy(row, &head, kHead);
  if (shape.num_globals > 0) {
    std::memcpy(row + at.globals, state.globals.data(), state.globals.size_bytes());
    std::memcpy(row + at.next_globals, next.globals.data(), next.globals.size_bytes());
  }
  std::memcpy(row + at.mask, state.mask.data(), state.mask.size());
  std::memcpy(row + at.next_mask, next.mask.data(), next.mask.size());
}

TransitionHead read_head(std::span<const std::byte> row) {
  TransitionHead head;
  std::memcpy(&head, row.data(), kHead);
  return head;
}

void write_graphs(std::span<std::byte> row, std::uint16_t graph, std::uint16_t next_graph) {
  std::memcpy(row.data() + offsetof(TransitionHead, graph), &graph, sizeof(graph));
  std::memcpy(row.data() + offsetof(TransitionHead, next_graph), &next_graph, sizeof(next_graph));
}

void read_state(std::span<const std::byte> row, const TransitionShape& shape, bool next,
                std::span<float> globals, std::span<std::uint8_t> mask) {
  const Offsets at = offsets_of(shape);
  if (!globals.empty()) {
    std::memcpy(globals.data(), row.data() + (next ? at.next_globals : at.globals),
                globals.size_bytes());
  }
  std::memcpy(mask.data(), row.data() + (next ? at.next_mask : at.mask), mask.size());
}

Result<void> validate(const Transitions& transitions, const TransitionLimits& limits) {
  const TransitionShape& shape = transitions.shape;
  if (shape.num_actions == 0) return corrupt("actions must be at least 1");
  if (shape.num_globals > limits.max_globals || shape.num_actions > limits.max_actions ||
      transitions.graphs.size() > limits.max_graphs ||
      transitions.rows.size() / shape.row_bytes() > limits.max_transitions) {
    return fail(Errc::kOverLimit, "transitions: larger than the limits allow");
  }
  if (transitions.rows.size() % shape.row_bytes() != 0) return corrupt("a row is incomplete");
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    if (auto ok = check_row(transitions.row(i), shape, transitions.graphs.size()); !ok) return ok;
  }
  return {};
}

}  // namespace pacml

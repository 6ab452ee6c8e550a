#pragma once

#include <concepts>
#include <type_traits>

#include "common/config/fields.h"

namespace pacml::env {

// Where the published simulator does something else than one would expect, one switch each; false
// is as published. The presets are `semantics: paper` (all false) and `semantics: corrected` (all
// true).
struct SemanticSwitches {
  // A tick of the lookahead ends with the first flow that finishes, not with the first channel
  // winner.
  bool exact_tick = false;
  // A channel's bandwidth is divided by the communication groups once, not twice, in collectives.
  bool collective_bandwidth_once = false;
  // A collective between servers of one rack takes time; as published it is free.
  bool intra_rack_collectives_cost = false;
  // Racks that share a communication group and a node index contend in collectives.
  bool rack_contention = false;
  // A piece waits for its real parents; as published, siblings' sync dependencies count as well.
  bool sync_is_no_parent = false;
  // Dependency sizes are activations; as published, activation + parameters of one end.
  bool activation_sized_dependencies = false;
  // Placement reserves forward and backward memory per server; as published, forward only, summed.
  bool full_memory_check = false;
  // A job whose completion time equals its limit up to rounding is accepted.
  bool tolerant_limit = false;
  // Jobs that still run when the episode ends are neither completed nor blocked.
  bool running_at_end_is_not_blocked = false;
  // The mask and the occupancy features see what is mounted now, not at the start of the last tick.
  bool fresh_occupancy = false;
  // Utilisation counts every training step; as published it is divided by their number once too
  // often.
  bool utilisation_over_all_steps = false;
  // The feature "is the op of largest compute" is set; as published it is always 0.
  bool mark_max_compute = false;
  // The total dependency size is normalised by the pool's maximum, not by a complete graph's.
  bool normalise_dependencies_by_pool = false;
  bool operator==(const SemanticSwitches&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, SemanticSwitches>
constexpr void visit_fields(Config& c, Visitor&& v) {
  v("exact_tick", c.exact_tick);
  v("collective_bandwidth_once", c.collective_bandwidth_once);
  v("intra_rack_collectives_cost", c.intra_rack_collectives_cost);
  v("rack_contention", c.rack_contention);
  v("sync_is_no_parent", c.sync_is_no_parent);
  v("activation_sized_dependencies", c.activation_sized_dependencies);
  v("full_memory_check", c.full_memory_check);
  v("tolerant_limit", c.tolerant_limit);
  v("running_at_end_is_not_blocked", c.running_at_end_is_not_blocked);
  v("fresh_occupancy", c.fresh_occupancy);
  v("utilisation_over_all_steps", c.utilisation_over_all_steps);
  v("mark_max_compute", c.mark_max_compute);
  v("normalise_dependencies_by_pool", c.normalise_dependencies_by_pool);
}

enum class Semantics { kPaper, kCorrected };
constexpr auto enum_names(Semantics) {
  return std::to_array<EnumName<Semantics>>(
      {{"paper", Semantics::kPaper}, {"corrected", Semantics::kCorrected}});
}

[[nodiscard]] constexpr SemanticSwitches preset(Semantics semantics) {
  if (semantics == Semantics::kPaper) return {};
  SemanticSwitches all;
  visit_fields(all, [](const char* /*name*/, bool& each) { each = true; });
  return all;
}

}  // namespace pacml::env

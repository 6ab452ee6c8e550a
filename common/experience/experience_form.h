#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/experience/observations.h"
#include "common/ids.h"
#include "common/result.h"

namespace pacml {

// What a run's decisions show. Whoever sends others is none of its actors, whatever it says of
// itself: what keeps or forwards experience sizes what it does by this. Value type.
struct ExperienceForm {
  ObservationShape shape;
  std::unordered_map<GraphHash, std::uint32_t> graphs;  // that rows are about, with their nodes

  [[nodiscard]] bool has(GraphHash graph) const { return graphs.contains(graph); }
  // Of the largest graph; 0: there is none.
  [[nodiscard]] std::uint32_t most_nodes() const;
};

// Whether the rows have that shape and are about such graphs, with features of all their nodes.
// kVersionMismatch with a sentence. Pre: validate() holds. Pure.
[[nodiscard]] Result<void> is_of_form(const Observations& observations, const ExperienceForm& form);

}  // namespace pacml

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::model {

// What a head reads of a decision's graphs, in double precision.
struct ReferenceContext {
  // [shape.context_width()]: of every slot with an encoder, then who decides.
  std::vector<double> values;
  // [nodes, embedding_width()] of the slot whose nodes the candidates are; empty: it has no
  // encoder, or they are none.
  std::vector<std::vector<double>> nodes;
};

// Plain loops, nothing cached. `graphs`: those that rows refer to. Pre: row b of `batch` shows
// graphs of the slots (PACML_CHECK).
[[nodiscard]] ReferenceContext reference_context(const NetworkShape& shape,
                                                 const Parameters& parameters,
                                                 const ParameterLayout& layout,
                                                 std::span<const env::GraphFeaturesPtr> graphs,
                                                 const Observations& batch, std::size_t b);

}  // namespace pacml::model

#pragma once

#include <cstddef>
#include <vector>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/encoders/encoder_config.h"
#include "model/parameters.h"

namespace pacml::model {

// What an encoder says of one decision's graph, in double precision.
struct ReferenceEncoding {
  std::vector<std::vector<double>> nodes;  // [nodes, width]
  std::vector<double> context;             // [slot.context_width()]
};

// Plain loops, nothing cached. Pre: the slot has an encoder, and row b of `batch` shows `graph` in
// it (PACML_CHECK).
[[nodiscard]] ReferenceEncoding reference_encoding(const SlotShape& slot, std::size_t slot_index,
                                                   const Parameters& parameters,
                                                   const ParameterLayout& layout,
                                                   const env::GraphFeatures& graph,
                                                   const Observations& batch, std::size_t b);

}  // namespace pacml::model

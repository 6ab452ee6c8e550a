#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/encoders/encoder_config.h"

namespace pacml::model {

// A feature as encoders read it: large numbers do not drown small ones.
[[nodiscard]] inline float squashed(float x) { return std::copysign(std::log1p(std::abs(x)), x); }

// Whether a graph has the widths that the slot says. Pure.
[[nodiscard]] bool is_of(const SlotShape& slot, const env::GraphFeatures& graph);

// The same as this kind of encoder reads it.
[[nodiscard]] inline float as_read(EncoderKind kind, float x) {
  return squashes(kind) ? squashed(x) : x;
}

// Writes x_v of every node (encoder_config.h), rows of `stride` floats; what lies behind a row's
// features is left alone. `dynamic` [nodes, dynamic_width]. Pre: the graph and the features are of
// the slot, stride is no less than all features (PACML_CHECK).
void write_node_inputs(const SlotShape& slot, const env::GraphFeatures& graph,
                       std::span<const float> dynamic, float* out, std::size_t stride);

}  // namespace pacml::model

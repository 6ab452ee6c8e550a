#pragma once

#include "env/onnx/layer_shapes.h"

namespace pacml::env::shapes {

// The same of operators that move data, or make it out of nothing.

[[nodiscard]] Outputs flatten(const OnnxCall& call);
[[nodiscard]] Outputs reshape(const OnnxCall& call);
[[nodiscard]] Outputs squeeze(const OnnxCall& call);
[[nodiscard]] Outputs unsqueeze(const OnnxCall& call);
[[nodiscard]] Outputs transpose(const OnnxCall& call);
[[nodiscard]] Outputs concat(const OnnxCall& call);
[[nodiscard]] Outputs split(const OnnxCall& call);
[[nodiscard]] Outputs split_to_sequence(const OnnxCall& call);
[[nodiscard]] Outputs sequence_at(const OnnxCall& call);
[[nodiscard]] Outputs slice(const OnnxCall& call);
[[nodiscard]] Outputs pad(const OnnxCall& call);
[[nodiscard]] Outputs tile(const OnnxCall& call);
[[nodiscard]] Outputs expand(const OnnxCall& call);
[[nodiscard]] Outputs gather(const OnnxCall& call);
[[nodiscard]] Outputs gather_nd(const OnnxCall& call);
[[nodiscard]] Outputs one_hot(const OnnxCall& call);
[[nodiscard]] Outputs top_k(const OnnxCall& call);
[[nodiscard]] Outputs reduce(const OnnxCall& call);
[[nodiscard]] Outputs arg_reduce(const OnnxCall& call);
[[nodiscard]] Outputs resize(const OnnxCall& call);
[[nodiscard]] Outputs depth_to_space(const OnnxCall& call);
[[nodiscard]] Outputs space_to_depth(const OnnxCall& call);

[[nodiscard]] Outputs shape(const OnnxCall& call);
[[nodiscard]] Outputs size(const OnnxCall& call);
[[nodiscard]] Outputs constant(const OnnxCall& call);
[[nodiscard]] Outputs constant_of_shape(const OnnxCall& call);
[[nodiscard]] Outputs range(const OnnxCall& call);

}  // namespace pacml::env::shapes

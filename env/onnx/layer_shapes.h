#pragma once

#include <string>
#include <utility>
#include <vector>

#include "env/onnx/onnx_call.h"

namespace pacml::env::shapes {

using Outputs = std::vector<OnnxTensor>;

[[nodiscard]] inline OnnxTensor tensor(int type, Extents extents) {
  return {.type = type, .extents = std::move(extents)};
}
[[nodiscard]] inline Outputs one(int type, Extents extents) {
  return {tensor(type, std::move(extents))};
}

// Types and shapes of what operators that compute put out, and nothing else. One function a family
// of operators, after https://onnx.ai/onnx/operators, for all versions of an operator that differ
// in where they keep their settings. UserError: it cannot be. Pure.

[[nodiscard]] Outputs same(const OnnxCall& call);        // as the first input
[[nodiscard]] Outputs dropout(const OnnxCall& call);     // ... and which of it was left
[[nodiscard]] Outputs broadcast(const OnnxCall& call);   // of all inputs
[[nodiscard]] Outputs comparison(const OnnxCall& call);  // ... as truth values
[[nodiscard]] Outputs where(const OnnxCall& call);
[[nodiscard]] Outputs cast(const OnnxCall& call);
[[nodiscard]] Outputs cast_like(const OnnxCall& call);  // to the second one's type
[[nodiscard]] Outputs quantize(const OnnxCall& call);
[[nodiscard]] Outputs normalisation(const OnnxCall& call);  // the first output alone as the input
[[nodiscard]] Outputs layer_normalisation(const OnnxCall& call);

[[nodiscard]] Outputs convolution(const OnnxCall& call);
[[nodiscard]] Outputs transposed_convolution(const OnnxCall& call);
[[nodiscard]] Outputs pool(const OnnxCall& call);
[[nodiscard]] Outputs global_pool(const OnnxCall& call);
[[nodiscard]] Outputs gemm(const OnnxCall& call);
[[nodiscard]] Outputs matmul(const OnnxCall& call);
[[nodiscard]] Outputs einsum(const OnnxCall& call);
[[nodiscard]] Outputs recurrent(const OnnxCall& call);
[[nodiscard]] Outputs attention(const OnnxCall& call);
// Sums of products of 8-bit numbers, in 32 bits.
[[nodiscard]] Outputs integer_convolution(const OnnxCall& call);
[[nodiscard]] Outputs integer_matmul(const OnnxCall& call);
// ... scaled back to what the last zero point is of. The operands among inputs that scale them:
[[nodiscard]] OnnxCall operands_of_quantised(const OnnxCall& call);
[[nodiscard]] Outputs quantised_convolution(const OnnxCall& call);
[[nodiscard]] Outputs quantised_matmul(const OnnxCall& call);
[[nodiscard]] Outputs cross_entropy(const OnnxCall& call);

// The letters of an Einsum's equation: one list an input, and the output's. UserError: it is none
// that is understood (no "...").
struct EinsumLetters {
  std::vector<std::string> inputs;
  std::string output;
};
[[nodiscard]] EinsumLetters einsum_letters(const OnnxCall& call);

}  // namespace pacml::env::shapes

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/network_config.h"

// A policy network as a list of operations on tensors by name: what an exported file computes,
// written once for every format that has operations of its own. The arithmetic is
// model/network_config.h's and model/encoders/graph_encoder.h's.
namespace pacml::learner {

// On float32 matrices of rows, unless said otherwise. `like` lends nothing but its number of rows.
enum class TensorOp : std::uint8_t {
  kLinear,      // (rows, weight [out, in], bias [out] or none): rows W^T + b
  kNorm,        // (rows, weight, bias): layer normalisation, epsilon kNormEpsilon
  kRelu,        // (rows)
  kSquash,      // (rows): sign(x) log(1 + |x|)
  kAdd,         // (rows, rows)
  kMultiply,    // (rows, column [N, 1]): every row by a number
  kIncrement,   // (rows): x + 1
  kPositive,    // (rows): 1 where x > 0, else 0
  kReciprocal,  // (rows): 1 / x where x > 0, else 0
  kConcat,      // (rows, rows, ..): side by side
  kPad,         // (rows): with `number` columns of zeroes behind
  kTake,        // (rows, indices [M]): row indices[m]
  kOnes,        // (like): a column of ones
  kOneHot,      // (indices [M]): [M, number]
  kGroupSum,    // (rows, group [N], like): of the rows of each group, as many as rows of `like`
  kGroupMax,    // (rows, group [N], like): no group is empty, and groups stand one after another
  kToFloat,     // (flags)
  kMask,        // (rows, flags): kMaskedLogit where the flag is false
  kSqueeze,     // (column [N, 1]): [N]
};

struct TensorOperation {
  TensorOp op = TensorOp::kAdd;
  std::vector<std::string> operands;  // inputs, weights by their names in the layout, or results
  std::string result;
  std::int64_t number = 0;
};

// The operations of a network, each after those whose results it needs. Inputs are policy_inputs()
// of the shape, outputs "logits" and "values" [B]: of heads that know candidates by their places
// logits are [B, A], kMaskedLogit where the mask is false; head: candidates' are [C], one for each
// candidate.
[[nodiscard]] std::vector<TensorOperation> tensor_program(const model::NetworkShape& shape);

}  // namespace pacml::learner

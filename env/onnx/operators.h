#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "env/graph/zoo/layer_work.h"
#include "env/onnx/imported_ops.h"
#include "env/onnx/layer_shapes.h"

namespace pacml::env {

// Which constant inputs of an operator are trained.
enum class Trained {
  kNone,
  kWeights,     // every one of floating point, wherever it comes from
  kScaleBias,   // ... but not what follows the third: running means and variances
  kGates,       // ... of a recurrent layer: not the states that it begins with
  kParameters,  // those that the file stores by name, and that are more than one number
};

// Whose numbers a constant result is made of: all inputs', or the first one's alone, which the
// others say how to lay out or to scale.
enum class Makes { kOfAll, kOfFirst };

struct OnnxCost {
  zoo::LayerWork work;
  double multiply_adds = 0;  // of the forward pass
};

// What is known of an operator of ONNX's default domain.
struct OnnxOperator {
  shapes::Outputs (*outputs)(const OnnxCall&) = nullptr;
  // Of a node that depends on data; null: its result is a view of its first input and costs
  // nothing. Gradients count as if the backward pass needed all of them.
  OnnxCost (*cost)(const OnnxCall&, std::span<const OnnxTensor> outputs) = nullptr;
  std::string_view costed_as;
  Trained trained = Trained::kNone;
  // Element by element or little more: what a framework runs together with what comes before.
  bool is_small = false;
  // Of constants; null: never followed.
  void (*values)(const OnnxCall&, shapes::Outputs&) = nullptr;
  Makes makes = Makes::kOfAll;
  // So many of its first inputs are read; of the others their type and shape alone, which are known
  // before data are.
  std::size_t reads = std::numeric_limits<std::size_t>::max();
};

// Null: none that is known.
[[nodiscard]] const OnnxOperator* find_operator(std::string_view domain, std::string_view type);

// What one costs that is not known: its inputs are read and its outputs written, forth, and twice
// as much back.
[[nodiscard]] OnnxCost cost_of_unknown(const OnnxCall& call, std::span<const OnnxTensor> outputs);

}  // namespace pacml::env

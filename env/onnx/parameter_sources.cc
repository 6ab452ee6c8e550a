#include "env/onnx/parameter_sources.h"

#include <span>
#include <utility>

#include "common/index.h"

namespace pacml::env {
namespace {

constexpr std::size_t kMostSources = 64;  // that one constant is followed to
constexpr std::size_t kPeepholes = 7;     // which input of an LSTM they are

}  // namespace

void ParameterSources::add(OnnxTensor& tensor, bool is_stored) {
  tensor.weights = {static_cast<int>(sources_.size())};
  sources_.push_back({.elements = product_of(tensor.extents),
                      .bytes = product_of(tensor.extents) * element_bytes(tensor.type),
                      .is_stored = is_stored});
}

bool ParameterSources::claim(const OnnxTensor& tensor, Trained trained, std::size_t input,
                             ImportedOp& op) {
  if (!tensor.is_constant || !is_floating(tensor.type) || trained == Trained::kNone) return false;
  if (trained == Trained::kScaleBias && (input < 1 || input > 2)) return false;
  if (trained == Trained::kGates && (input < 1 || input > 3) && input != kPeepholes) return false;
  const bool is_stored = !tensor.weights.empty() && sources_[at(tensor.weights[0])].is_stored;
  if (trained == Trained::kParameters && (!is_stored || product_of(tensor.extents) <= 1)) {
    return false;
  }
  for (const int weight : tensor.weights) {
    Source& source = sources_[at(weight)];
    if (std::exchange(source.is_claimed, true)) continue;
    op.parameters += source.elements;
    op.parameter_bytes += source.bytes;
  }
  return true;
}

std::vector<int> weights_of(const OnnxCall& call, const OnnxOperator* rule) {
  std::span<const OnnxTensor* const> inputs = call.inputs();
  const bool is_of_all = rule == nullptr || rule->makes == Makes::kOfAll;
  if (!is_of_all && !inputs.empty()) inputs = inputs.first(1);
  std::vector<int> weights;
  for (const OnnxTensor* input : inputs) {
    if (input == nullptr) continue;
    for (const int weight : input->weights) {
      if (weights.size() < kMostSources) weights.push_back(weight);
    }
  }
  return weights;
}

}  // namespace pacml::env

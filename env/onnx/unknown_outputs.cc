#include "env/onnx/unknown_outputs.h"

#include <cstddef>
#include <ranges>
#include <utility>

namespace pacml::env {

UnknownOutputs::UnknownOutputs(const onnx::GraphProto& graph, const OpenExtents& extents,
                               const std::string& source)
    : extents_(extents), source_(source) {
  for (const onnx::ValueInfoProto& info : graph.value_info()) infos_.emplace(info.name(), &info);
  for (const onnx::ValueInfoProto& info : graph.output()) infos_.emplace(info.name(), &info);
}

shapes::Outputs UnknownOutputs::of(const OnnxCall& call) const {
  const onnx::NodeProto& node = call.node();
  const std::size_t first = node.op_type() == "If" ? 1 : 0;
  constexpr std::size_t kCarried = 2;  // of a loop: behind its count and its condition
  OnnxTensor usual;
  for (const OnnxTensor* input : call.inputs() | std::views::drop(first)) {
    if (input != nullptr) {
      usual = {.type = input->type, .extents = input->extents};
      break;
    }
  }
  shapes::Outputs outputs(call.num_outputs(), usual);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::optional<OnnxTensor> tensor = said(node, static_cast<int>(i));
    const bool is_carried = node.op_type() == "Loop" &&
                            kCarried + i < static_cast<std::size_t>(node.input_size()) &&
                            call.has(kCarried + i);
    if (tensor) {
      outputs[i] = *std::move(tensor);
    } else if (is_carried) {
      const OnnxTensor& carried = call.in(kCarried + i);
      outputs[i] = {.type = carried.type, .extents = carried.extents};
    }
  }
  return outputs;
}

// Of the output itself, or of what a branch puts out there.
std::optional<OnnxTensor> UnknownOutputs::said(const onnx::NodeProto& node, int output) const {
  const auto info = infos_.find(node.output(output));
  std::optional<OnnxTensor> tensor;
  if (info != infos_.end()) tensor = whole_tensor(*info->second, extents_, source_);
  if (node.op_type() != "If") return tensor;
  for (const onnx::AttributeProto& branch : node.attribute()) {
    if (!tensor && output < branch.g().output_size()) {
      tensor = whole_tensor(branch.g().output(output), extents_, source_);
    }
  }
  return tensor;
}

}  // namespace pacml::env

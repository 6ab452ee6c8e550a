#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "env/onnx/layer_shapes.h"
#include "env/onnx/said_tensor.h"

namespace pacml::env {

// What operators put out that are not known. Borrows all it is given. Immutable.
class UnknownOutputs {
 public:
  // `extents`: of axes that the file leaves open.
  UnknownOutputs(const onnx::GraphProto& graph, const OpenExtents& extents,
                 const std::string& source);

  // As the file says; what goes round a loop as it comes in; else as the first input, of a branch
  // behind its condition. UserError: as whole_tensor.
  [[nodiscard]] shapes::Outputs of(const OnnxCall& call) const;

 private:
  [[nodiscard]] std::optional<OnnxTensor> said(const onnx::NodeProto& node, int output) const;

  const OpenExtents& extents_;
  const std::string& source_;
  std::unordered_map<std::string_view, const onnx::ValueInfoProto*> infos_;
};

}  // namespace pacml::env

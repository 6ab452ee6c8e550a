#include "env/onnx/said_tensor.h"

#include <cstddef>

#include "env/onnx/onnx_call.h"
#include "env/onnx/refuse_model.h"

namespace pacml::env {
namespace {

bool has_shape(const onnx::ValueInfoProto& info) {
  return info.type().has_tensor_type() && info.type().tensor_type().has_shape();
}

}  // namespace

std::int64_t open_extent(const OpenExtents& extents, const std::string& name) {
  const auto known = extents.find(name);
  return known == extents.end() ? -1 : known->second;
}

std::string name_of_axis(const onnx::ValueInfoProto& info, std::size_t axis) {
  const auto& dim = info.type().tensor_type().shape().dim(static_cast<int>(axis));
  return dim.has_dim_param() && !dim.dim_param().empty() ? dim.dim_param()
                                                         : info.name() + "." + std::to_string(axis);
}

OnnxTensor said_tensor(const onnx::ValueInfoProto& info, const std::string& source) {
  if (!has_shape(info)) {
    refuse_model(source,
                 "\"" + printable(info.name()) + "\" is no tensor of a known number of axes");
  }
  const onnx::TypeProto_Tensor& type = info.type().tensor_type();
  if (type.shape().dim_size() > static_cast<int>(kMostAxes)) {
    refuse_model(source, "\"" + printable(info.name()) + "\" has too many axes");
  }
  OnnxTensor tensor{.type = type.elem_type()};
  for (const auto& dim : type.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) {
      refuse_model(source, "\"" + printable(info.name()) + "\" has an axis of " +
                               std::to_string(dim.dim_value()));
    }
    tensor.extents.push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value() : -1);
  }
  return tensor;
}

std::optional<OnnxTensor> whole_tensor(const onnx::ValueInfoProto& info, const OpenExtents& extents,
                                       const std::string& source) {
  if (!has_shape(info)) return std::nullopt;
  OnnxTensor said = said_tensor(info, source);
  for (std::size_t axis = 0; axis < said.num_axes(); ++axis) {
    if (said.extents[axis] >= 0) continue;
    said.extents[axis] = open_extent(extents, name_of_axis(info, axis));
    if (said.extents[axis] < 0) return std::nullopt;
  }
  if (element_bytes(said.type) == 0) return std::nullopt;
  return said;
}

}  // namespace pacml::env

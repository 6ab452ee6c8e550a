#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "env/onnx/onnx_tensor.h"

// What a file says of a tensor's type and shape. Pure.

namespace pacml::env {

// How long axes are that a file leaves open, by name.
using OpenExtents = std::map<std::string, std::int64_t>;
// -1: not known.
[[nodiscard]] std::int64_t open_extent(const OpenExtents& extents, const std::string& name);
// How an open axis is called on the command line.
[[nodiscard]] std::string name_of_axis(const onnx::ValueInfoProto& info, std::size_t axis);

// -1 where the file leaves an extent open. UserError: no tensor, or too many axes.
[[nodiscard]] OnnxTensor said_tensor(const onnx::ValueInfoProto& info, const std::string& source);
// Absent: something is not said, nor among `extents`. UserError: an axis that cannot be, or too
// many of them.
[[nodiscard]] std::optional<OnnxTensor> whole_tensor(const onnx::ValueInfoProto& info,
                                                     const OpenExtents& extents,
                                                     const std::string& source);

}  // namespace pacml::env

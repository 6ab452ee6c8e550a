#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <istream>
#include <string>

namespace pacml::env {

// About what a message, and a text of it, take beside their bytes once they are parsed: never less,
// so that the sum bounds our memory, ...
inline constexpr std::uint64_t kOnnxMessageBytes = 320;
inline constexpr std::uint64_t kOnnxTextBytes = 64;
// ... which is at most this.
inline constexpr std::uint64_t kMostOnnxBytes = UINT64_C(1) << 28;

// An ONNX model without what is large in it: tensors of more than a few numbers keep their type and
// shape alone, and documentation is left out. So memory is bounded whatever the weights take, and
// whatever the bytes say: UserError, with the name `source`, for what is no ONNX model, ends in the
// middle, or takes more than 256 MiB without its weights.
[[nodiscard]] onnx::ModelProto read_onnx_model(std::istream& in, const std::string& source);

}  // namespace pacml::env

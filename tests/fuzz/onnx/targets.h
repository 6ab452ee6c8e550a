#pragma once

#include <cstddef>
#include <span>

namespace pacml::fuzz {

// Reads an ONNX model: ends the process when what is read is no job graph of finite figures, alone
// or fused. True when it was read.
bool model(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz

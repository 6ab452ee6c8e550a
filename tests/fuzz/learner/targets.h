#pragma once

#include <string_view>

namespace pacml::fuzz {

// Reads bytes as a safetensors file and as a checkpoint; aborts if what was read does not survive
// being written again. True if they are a safetensors file.
bool safetensors(std::string_view bytes);

}  // namespace pacml::fuzz

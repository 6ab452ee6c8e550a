#pragma once

#include <cstddef>
#include <span>

namespace pacml::fuzz {

// Reads an execution trace of Chakra: ends the process when what is read is no graph of the sizes
// that it says. True when it was read.
bool chakra_trace(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz

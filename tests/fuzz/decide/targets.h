#pragma once

#include <cstddef>
#include <span>

namespace pacml::fuzz {

// Reads a line as a decision service does, and keeps the books of a cluster of eight servers by it.
// What is refused has a sentence, and changes nothing. True when it was taken.
bool request(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz

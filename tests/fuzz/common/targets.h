#pragma once

#include <cstddef>
#include <span>

// One call with any bytes: ends the process when a promise of the code below is broken.

namespace pacml::fuzz {

// Decodes a flattened frame (tests/support/wire_samples.h). What decodes must encode, and decode
// again to the same message. True when it decoded.
bool frame(std::span<const std::byte> bytes);

// Reads a configuration; the first line may hold overrides. What is read must survive its dump.
// True when it was read.
bool config(std::span<const std::byte> bytes);

// Reads a key file and a list of allowed clients. What is read must survive being written again.
// True when it was either.
bool keys(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz

#pragma once

#include <cstddef>
#include <span>

namespace pacml::fuzz {

// Reads what a shard knew besides its items. What is read must survive being written and read
// again. True when it was read.
bool server_state(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz

#pragma once

#include <cstddef>
#include <span>

namespace pacml::fuzz {

// Reads a list of hosts and places roles on them; true: it was one. Aborts where the parser breaks
// its promises.
bool hostfile(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz

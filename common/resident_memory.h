#pragma once

#include <cstdint>

namespace pacml {

// Resident memory of this process, in bytes; 0 where the system does not tell. Thread-safe.
[[nodiscard]] std::int64_t resident_bytes();

}  // namespace pacml

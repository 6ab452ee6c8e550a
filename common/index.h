// Indices are kept in 32 bits, of which a billion suffice; containers want std::size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pacml {

// Pure. `index` is not negative.
constexpr std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace pacml

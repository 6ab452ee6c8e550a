#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace pacml {

// What crosses process boundaries and lies in files is little-endian, as is every machine that we
// run on: columns are copied, never converted.
static_assert(std::endian::native == std::endian::little, "a big-endian machine needs byte swaps");

using Bytes = std::vector<std::byte>;

template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace pacml

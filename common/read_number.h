#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace pacml {

// The number that the whole of a text spells, as std::from_chars reads it: without blanks or a
// leading '+', and of floating point "inf" and "nan", too. nullopt: it spells none, or one that the
// type does not hold. Pure.
template <class Number>
requires std::is_arithmetic_v<Number>
[[nodiscard]] std::optional<Number> read_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

}  // namespace pacml

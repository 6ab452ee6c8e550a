#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <type_traits>

namespace pacml {

// A setting's value as a person would write it: "3", "0.001", "1e+300", "nan". Pure.
template <class Number>
requires std::is_arithmetic_v<Number>
[[nodiscard]] std::string spell_number(Number value) {
  if constexpr (std::is_integral_v<Number>) {
    return std::to_string(value);
  } else {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", static_cast<double>(value));
    return text.data();
  }
}

}  // namespace pacml

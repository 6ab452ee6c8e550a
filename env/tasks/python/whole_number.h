#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace pacml::env {

// What Python says is a whole number, of which it has larger ones than fit here; nullopt: it is
// none, or not in that range. Pure.
[[nodiscard]] inline std::optional<std::int64_t> whole_number(const nlohmann::json& said,
                                                              std::int64_t low, std::int64_t high) {
  if (!said.is_number_integer()) return std::nullopt;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (said.is_number_unsigned() && said.get<std::uint64_t>() > kLargest) return std::nullopt;
  const auto number = said.get<std::int64_t>();
  if (number < low || number > high) return std::nullopt;
  return number;
}

}  // namespace pacml::env

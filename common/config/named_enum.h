#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/fields.h"

namespace pacml {

// The value that is called so; nullopt: none is.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::optional<Enum> value_named(std::string_view name) {
  for (const auto& entry : enum_names(Enum{})) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

// All that there are, in their order: for sentences about a name that is none of them.
template <NamedEnum Enum>
[[nodiscard]] std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& entry : enum_names(Enum{})) names.emplace_back(entry.name);
  return names;
}

}  // namespace pacml

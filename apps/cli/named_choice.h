#pragma once

#include <string>

#include "common/config/named_enum.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::apps {

// What an option's value names. UserError: nothing, with what is known.
template <NamedEnum Enum>
[[nodiscard]] Enum named_choice(const char* option, const std::string& name) {
  if (const auto value = value_named<Enum>(name)) return *value;
  throw UserError(std::string(option) + ": there is no \"" + name + "\"; known are " +
                  join(names_of<Enum>()));
}

}  // namespace pacml::apps

#pragma once

#include <array>
#include <string_view>

// A configuration is a plain struct with defaults. Beside it stands the one list of its fields:
//
//   template <class Config, class Visitor>
//     requires std::same_as<std::remove_const_t<Config>, RampConfig>
//   void visit_fields(Config& c, Visitor&& v) {
//     v("racks", c.racks);
//   }
//
// found by argument-dependent lookup. Reading, dumping, diffing and hashing all walk that list
// (config/reader.h, config/dump.h). A field is: bool, an integer, a double (YAML .inf allowed),
// Seconds (seconds.h: a length of time that fits a clock), a std::string, an enum with enum_names,
// a Strong of such, std::vector or std::array of such, std::optional of such (null: absent),
// std::map<std::string, T>, another struct that has visit_fields, or a class that reads itself
// (SelfReading in reader.h).
//
// `std::vector<std::string> validate(const Config&)`, where it exists, returns every problem of the
// struct's own fields as a sentence that begins with the key ("size", or "inner.size" where it is
// about how nested structs go together); the reader asks nested structs itself.

namespace pacml {

template <class Enum>
struct EnumName {
  std::string_view name;
  Enum value;
};

// An enum is spelled by a function found by argument-dependent lookup:
//   constexpr auto enum_names(TimeUnit) {
//     return std::to_array<EnumName<TimeUnit>>({{"paper", TimeUnit::kPaper}, ...});
//   }
template <class Enum>
concept NamedEnum = requires(Enum e) {
  enum_names(e);
};

template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
  for (const auto& entry : enum_names(value)) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

}  // namespace pacml

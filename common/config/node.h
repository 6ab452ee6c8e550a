#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pacml {

struct ConfigEntry;

// A configuration as text: scalars, lists and maps, each with the place it was written at. What
// YAML is parsed into and written from; structs are read from it (reader.h) and turned into it
// (dump.h). Value type.
struct ConfigNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;                  // of a scalar
  bool quoted = false;               // a scalar in quotes is text, never a number or a name
  std::string where;                 // "configs/x.yaml:12" or "--set a.b=3"; for messages
  std::vector<ConfigNode> items;     // of a list
  std::vector<ConfigEntry> entries;  // of a map, in order, keys unique

  // The value of a map's key; nullptr: absent, or not a map.
  [[nodiscard]] const ConfigNode* find(std::string_view key) const;
  [[nodiscard]] ConfigNode* find(std::string_view key);
  // Said by an override, not by the text.
  [[nodiscard]] bool is_override() const { return where.starts_with("--"); }
};

struct ConfigEntry {
  std::string key;
  ConfigNode value;
};

inline const ConfigNode* ConfigNode::find(std::string_view key) const {
  for (const ConfigEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

inline ConfigNode* ConfigNode::find(std::string_view key) {
  return const_cast<ConfigNode*>(std::as_const(*this).find(key));
}

}  // namespace pacml

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "common/config/node.h"
#include "common/config/reader.h"
#include "common/hash.h"

// The effective configuration as YAML text. What is written reads back equal; numbers are the
// shortest that do. The same values give the same text on every machine. Pure.

namespace pacml {

// YAML text of a tree; ends with a newline.
[[nodiscard]] std::string to_yaml(const ConfigNode& node);

namespace config_detail {

[[nodiscard]] ConfigNode scalar(std::string text, bool quoted = false);
[[nodiscard]] std::string number_text(double value);

template <class T>
[[nodiscard]] ConfigNode to_node(const T& value) {
  if constexpr (SelfReading<T>) {
    return value.to_node();
  } else if constexpr (std::same_as<T, bool>) {
    return scalar(value ? "true" : "false");
  } else if constexpr (std::integral<T>) {
    return scalar(std::to_string(value));
  } else if constexpr (std::same_as<T, double>) {
    return scalar(number_text(value));
  } else if constexpr (std::same_as<T, Seconds>) {
    return scalar(number_text(value.count()));
  } else if constexpr (std::same_as<T, std::string>) {
    return scalar(value, true);
  } else if constexpr (NamedEnum<T>) {
    return scalar(std::string{name_of(value)});
  } else if constexpr (IsStrong<T>::value) {
    return to_node(value.get());
  } else if constexpr (IsOptional<T>::value) {
    return value ? to_node(*value) : ConfigNode{};
  } else if constexpr (IsVector<T>::value || IsArray<T>::value) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::kList;
    for (const typename T::value_type& item : value) node.items.push_back(to_node(item));
    return node;
  } else if constexpr (IsMap<T>::value) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::kMap;
    for (const auto& [key, item] : value) node.entries.push_back({key, to_node(item)});
    return node;
  } else if constexpr (Configuration<T>) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::kMap;
    visit_fields(value, [&](std::string_view key, const auto& field) {
      node.entries.push_back({std::string{key}, to_node(field)});
    });
    return node;
  } else {
    static_assert(kUnsupported<T>, "not a type of configuration fields; see config/fields.h");
  }
}

}  // namespace config_detail

template <Configuration Config>
[[nodiscard]] std::string dump_config(const Config& config) {
  return to_yaml(config_detail::to_node(config));
}

// Of the text above. To hash what two peers must agree on, pass that part of the configuration.
template <Configuration Config>
[[nodiscard]] std::uint64_t config_hash(const Config& config) {
  return content_hash(dump_config(config));
}

}  // namespace pacml

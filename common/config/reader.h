#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/config/named_enum.h"
#include "common/config/node.h"
#include "common/config/seconds.h"
#include "common/config/source.h"
#include "common/result.h"
#include "common/strong.h"
#include "common/text.h"

// Reads a configuration into a struct with visit_fields (fields.h):
//
//   const auto config = read_config<TrainConfig>(ConfigSource::from_file(path, overrides));
//
// What is absent keeps its default (or the value of a configuration that is passed). Everything
// else that is not exactly as expected is a problem: an unknown key, a wrong type, a number out of
// range, a list of the wrong length. When the text was read, validate(config) is asked, on nested
// structs as well. All problems are reported together, one sentence a line, in one UserError.

namespace pacml {

namespace config_detail {

struct AnyVisitor {
  template <class T>
  void operator()(std::string_view, T&&) const {}
};

// Where problems are gathered; `path` is the dotted key.
class Problems {
 public:
  void add(const ConfigNode& node, const std::string& path, std::string_view sentence);
  void add(Problems others);
  [[nodiscard]] bool empty() const { return sentences_.empty(); }
  // Whether one of them is of something that no override has said.
  [[nodiscard]] bool concern_text() const { return of_text_; }
  // Throws UserError when there are any.
  void throw_if_any() const;

 private:
  std::vector<std::string> sentences_;
  bool of_text_ = false;
};

// Where the key was written that a sentence of validate() begins with ("size: ...", "cluster.size
// must ..."): as far down as the text goes. Defaults have no line of their own.
[[nodiscard]] const ConfigNode& place_of(std::string_view sentence, const ConfigNode& node);
[[nodiscard]] std::string child_path(const std::string& path, std::string_view key);
// "'abc'", "a list", "a map", "nothing": what was found, for messages.
[[nodiscard]] std::string describe(const ConfigNode& node);
// Each is empty, with a problem noted, when the node is something else.
[[nodiscard]] std::optional<bool> parse_bool(const ConfigNode&, const std::string& path, Problems&);
[[nodiscard]] std::optional<double> parse_double(const ConfigNode&, const std::string& path,
                                                 Problems&);
[[nodiscard]] std::optional<Seconds> parse_seconds(const ConfigNode&, const std::string& path,
                                                   Problems&);
[[nodiscard]] std::optional<std::string> parse_string(const ConfigNode&, const std::string& path,
                                                      Problems&);
[[nodiscard]] std::optional<std::int64_t> parse_signed(const ConfigNode&, const std::string& path,
                                                       std::int64_t min, std::int64_t max,
                                                       Problems&);
[[nodiscard]] std::optional<std::uint64_t> parse_unsigned(const ConfigNode&,
                                                          const std::string& path,
                                                          std::uint64_t max, Problems&);
// False, with a problem noted, when the node is something else.
[[nodiscard]] bool expect_list(const ConfigNode&, const std::string& path, Problems&);
[[nodiscard]] bool expect_map(const ConfigNode&, const std::string& path, Problems&);
void report_unknown_keys(const ConfigNode&, const std::string& path,
                         const std::vector<std::string>& known, Problems&);
void report_unknown_name(const ConfigNode&, const std::string& path,
                         const std::vector<std::string>& known, Problems&);

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsStrong : std::false_type {};
template <class Tag, class Rep>
struct IsStrong<Strong<Tag, Rep>> : std::true_type {};

template <class T>
inline constexpr bool kUnsupported = false;

}  // namespace config_detail

// A section whose keys depend on what it holds, and which therefore reads, checks and writes itself
// (env/task_config.h).
template <class T>
concept SelfReading = requires(T& t, const T& same, const ConfigNode& node, const std::string& path,
                               config_detail::Problems& problems) {
  t.read(node, path, problems);
  same.check(node, path, problems);
  { same.to_node() } -> std::same_as<ConfigNode>;
};

template <class T>
concept Configuration = requires(T& t, config_detail::AnyVisitor v) {
  visit_fields(t, v);
};

template <class T>
concept Validated = requires(const T& t) {
  { validate(t) } -> std::same_as<std::vector<std::string>>;
};

namespace config_detail {

template <class T>
void read_value(T& value, const ConfigNode& node, const std::string& path, Problems& problems) {
  if constexpr (SelfReading<T>) {
    value.read(node, path, problems);
  } else if constexpr (std::same_as<T, bool>) {
    if (const auto read = parse_bool(node, path, problems)) value = *read;
  } else if constexpr (std::signed_integral<T>) {
    using Limits = std::numeric_limits<T>;
    if (const auto read = parse_signed(node, path, Limits::min(), Limits::max(), problems)) {
      value = static_cast<T>(*read);
    }
  } else if constexpr (std::unsigned_integral<T>) {
    if (const auto read = parse_unsigned(node, path, std::numeric_limits<T>::max(), problems)) {
      value = static_cast<T>(*read);
    }
  } else if constexpr (std::same_as<T, double>) {
    if (const auto read = parse_double(node, path, problems)) value = *read;
  } else if constexpr (std::same_as<T, Seconds>) {
    if (const auto read = parse_seconds(node, path, problems)) value = *read;
  } else if constexpr (std::same_as<T, std::string>) {
    if (auto read = parse_string(node, path, problems)) value = std::move(*read);
  } else if constexpr (NamedEnum<T>) {
    std::optional<T> named;
    if (node.kind == ConfigNode::Kind::kScalar) named = value_named<T>(node.text);
    if (named) {
      value = *named;
    } else {
      report_unknown_name(node, path, names_of<T>(), problems);
    }
  } else if constexpr (IsStrong<T>::value) {
    auto number = value.get();
    read_value(number, node, path, problems);
    value = T{number};
  } else if constexpr (IsOptional<T>::value) {
    if (node.kind == ConfigNode::Kind::kNull) {
      value.reset();
    } else {
      typename T::value_type inner{};
      read_value(inner, node, path, problems);
      value = std::move(inner);
    }
  } else if constexpr (IsVector<T>::value) {
    if (!expect_list(node, path, problems)) return;
    value.clear();
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      typename T::value_type item{};
      read_value(item, node.items[i], path + "[" + std::to_string(i) + "]", problems);
      value.push_back(std::move(item));
    }
  } else if constexpr (IsArray<T>::value) {
    if (!expect_list(node, path, problems)) return;
    if (node.items.size() != value.size()) {
      problems.add(node, path,
                   "expected a list of " + std::to_string(value.size()) + ", found one of " +
                       std::to_string(node.items.size()));
      return;
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      read_value(value[i], node.items[i], path + "[" + std::to_string(i) + "]", problems);
    }
  } else if constexpr (IsMap<T>::value) {
    if (!expect_map(node, path, problems)) return;
    value.clear();
    for (const auto& [key, child] : node.entries) {
      read_value(value[key], child, child_path(path, key), problems);
    }
  } else if constexpr (Configuration<T>) {
    if (node.kind == ConfigNode::Kind::kNull) return;  // every key commented out: the defaults
    if (!expect_map(node, path, problems)) return;
    std::vector<std::string> known;
    visit_fields(value, [&](std::string_view key, auto& field) {
      known.emplace_back(key);
      if (const ConfigNode* child = node.find(key)) {
        read_value(field, *child, child_path(path, key), problems);
      }
    });
    report_unknown_keys(node, path, known, problems);
  } else {
    static_assert(kUnsupported<T>, "not a type of configuration fields; see config/fields.h");
  }
}

// `node` is the nearest one that was written: defaults have no line of their own.
template <class T>
void validate_all(const T& value, const ConfigNode& node, const std::string& path,
                  Problems& problems) {
  if constexpr (SelfReading<T>) {
    value.check(node, path, problems);
  } else if constexpr (Configuration<T>) {
    if constexpr (Validated<T>) {
      for (const std::string& sentence : validate(value)) {
        problems.add(place_of(sentence, node), path, sentence);
      }
    }
    visit_fields(value, [&](std::string_view key, const auto& field) {
      const ConfigNode* child = node.find(key);
      validate_all(field, child != nullptr ? *child : node, child_path(path, key), problems);
    });
  } else if constexpr (IsVector<T>::value || IsArray<T>::value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const typename T::value_type& item = value[i];
      validate_all(item, i < node.items.size() ? node.items[i] : node,
                   path + "[" + std::to_string(i) + "]", problems);
    }
  } else if constexpr (IsOptional<T>::value) {
    if (value) validate_all(*value, node, path, problems);
  } else if constexpr (IsMap<T>::value) {
    for (const auto& [key, item] : value) {
      const ConfigNode* child = node.find(key);
      validate_all(item, child != nullptr ? *child : node, child_path(path, key), problems);
    }
  }
}

}  // namespace config_detail

// What is absent is as in `config`. Throws UserError.
template <Configuration Config>
[[nodiscard]] Config read_config(const ConfigSource& source, Config config = {}) {
  config_detail::Problems problems;
  config_detail::read_value(config, source.root(), "", problems);
  if (problems.empty()) config_detail::validate_all(config, source.root(), "", problems);
  problems.throw_if_any();
  return config;
}

}  // namespace pacml

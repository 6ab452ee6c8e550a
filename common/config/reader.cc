#include "common/config/reader.h"

#include <cmath>
#include <iterator>

#include "common/config/list_override.h"
#include "common/read_number.h"

namespace pacml::config_detail {
namespace {

using Kind = ConfigNode::Kind;

bool is_plain_scalar(const ConfigNode& node) { return node.kind == Kind::kScalar && !node.quoted; }

// YAML allows a leading '+', std::from_chars does not.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

// A finite number; std::from_chars also knows "inf" and "nan", which YAML spells differently.
std::optional<double> finite_number(std::string_view text) {
  text = without_plus(text);
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  return read_number<double>(text);
}

// "1e6" and "32.0" are integers too, as far as a double counts without gaps.
std::optional<std::int64_t> integral_double(std::string_view text) {
  constexpr double kGapless = 9007199254740992.0;  // 2^53
  const auto value = finite_number(text);
  if (!value || std::trunc(*value) != *value || std::abs(*value) > kGapless) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

// However large.
bool is_whole(const ConfigNode& node) {
  if (!is_plain_scalar(node)) return false;
  std::string_view text = without_plus(node.text);
  if (text.starts_with('-')) text.remove_prefix(1);
  return (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) ||
         integral_double(node.text);
}

template <class T>
std::optional<T> parse_integer(const ConfigNode& node, const std::string& path, T min, T max,
                               Problems& problems) {
  if (is_plain_scalar(node)) {
    const std::string_view text = without_plus(node.text);
    if (const auto value = read_number<T>(text); value && *value >= min && *value <= max) {
      return value;
    }
    if (const auto value = integral_double(text); value && std::in_range<T>(*value)) {
      if (static_cast<T>(*value) >= min && static_cast<T>(*value) <= max) {
        return static_cast<T>(*value);
      }
    }
  }
  std::string expected = "expected an integer";
  if (is_whole(node)) expected += " from " + std::to_string(min) + " to " + std::to_string(max);
  problems.add(node, path, expected + ", found " + describe(node));
  return std::nullopt;
}

}  // namespace

void Problems::add(const ConfigNode& node, const std::string& path, std::string_view sentence) {
  std::string text = node.where;
  text += ": ";
  if (!path.empty()) {
    text += path;
    text += ": ";
  }
  text += sentence;
  sentences_.push_back(std::move(text));
  of_text_ = of_text_ || !node.is_override();
}

void Problems::add(Problems others) {
  sentences_.insert(sentences_.end(), std::move_iterator(others.sentences_.begin()),
                    std::move_iterator(others.sentences_.end()));
  of_text_ = of_text_ || others.of_text_;
}

void Problems::throw_if_any() const {
  if (!sentences_.empty()) throw UserError(join(sentences_, "\n"));
}

const ConfigNode& place_of(std::string_view sentence, const ConfigNode& node) {
  std::string_view path = sentence.substr(0, sentence.find_first_of(": "));
  const ConfigNode* place = &node;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const ConfigNode* child = place->find(path.substr(0, dot));
    if (child == nullptr) break;
    place = child;
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  return *place;
}

std::string child_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string{key} : path + "." + std::string{key};
}

std::string describe(const ConfigNode& node) {
  constexpr std::size_t kLongest = 60;
  switch (node.kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  const std::string text =
      node.text.size() <= kLongest ? node.text : node.text.substr(0, kLongest) + "...";
  return (node.quoted ? "the quoted text '" : "'") + text + "'";
}

std::optional<bool> parse_bool(const ConfigNode& node, const std::string& path,
                               Problems& problems) {
  if (is_plain_scalar(node) && node.text == "true") return true;
  if (is_plain_scalar(node) && node.text == "false") return false;
  problems.add(node, path, "expected true or false, found " + describe(node));
  return std::nullopt;
}

std::optional<double> parse_double(const ConfigNode& node, const std::string& path,
                                   Problems& problems) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_plain_scalar(node)) {
    if (node.text == ".inf" || node.text == "+.inf") return kInfinity;
    if (node.text == "-.inf") return -kInfinity;
    if (const auto value = finite_number(node.text)) return value;
  }
  problems.add(node, path, "expected a number, found " + describe(node));
  return std::nullopt;
}

std::optional<Seconds> parse_seconds(const ConfigNode& node, const std::string& path,
                                     Problems& problems) {
  if (is_plain_scalar(node)) {
    const auto value = finite_number(node.text);
    if (value && *value >= 0 && *value <= Seconds::kMost) return Seconds{*value};
  }
  problems.add(node, path,
               "expected seconds, from 0 to 1e8 (three years), found " + describe(node));
  return std::nullopt;
}

std::optional<std::string> parse_string(const ConfigNode& node, const std::string& path,
                                        Problems& problems) {
  if (node.kind == Kind::kScalar) return node.text;
  problems.add(node, path, "expected text, found " + describe(node));
  return std::nullopt;
}

std::optional<std::int64_t> parse_signed(const ConfigNode& node, const std::string& path,
                                         std::int64_t min, std::int64_t max, Problems& problems) {
  return parse_integer<std::int64_t>(node, path, min, max, problems);
}

std::optional<std::uint64_t> parse_unsigned(const ConfigNode& node, const std::string& path,
                                            std::uint64_t max, Problems& problems) {
  return parse_integer<std::uint64_t>(node, path, 0, max, problems);
}

bool expect_list(const ConfigNode& node, const std::string& path, Problems& problems) {
  if (node.kind == Kind::kList) return true;
  // An element of a list that nobody has written looks like a map by the time it is read.
  const bool misses_elements = node.kind == Kind::kMap && node.is_override();
  problems.add(
      node, path,
      "expected a list, " + (misses_elements ? how_to_set_list(path) : "found " + describe(node)));
  return false;
}

bool expect_map(const ConfigNode& node, const std::string& path, Problems& problems) {
  if (node.kind == Kind::kMap) return true;
  problems.add(node, path, "expected a map of keys and values, found " + describe(node));
  return false;
}

void report_unknown_keys(const ConfigNode& node, const std::string& path,
                         const std::vector<std::string>& known, Problems& problems) {
  for (const auto& [key, child] : node.entries) {
    bool is_known = false;
    for (const std::string& name : known) is_known = is_known || name == key;
    if (!is_known) {
      problems.add(child, "",
                   "unknown key '" + child_path(path, key) + "'" + did_you_mean(key, known));
    }
  }
}

void report_unknown_name(const ConfigNode& node, const std::string& path,
                         const std::vector<std::string>& known, Problems& problems) {
  std::string sentence = "expected one of " + join(known) + "; found " + describe(node);
  if (node.kind == Kind::kScalar) sentence += name_meant(node.text, known);
  problems.add(node, path, sentence);
}

}  // namespace pacml::config_detail

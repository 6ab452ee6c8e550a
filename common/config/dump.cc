#include "common/config/dump.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace pacml {
namespace {

using Kind = ConfigNode::Kind;

// Names that need no quotes, and mean the same to every version of YAML.
bool is_plain_word(std::string_view text) {
  constexpr std::array<std::string_view, 9> kReserved = {"true", "false", "null", "yes", "no",
                                                         "on",   "off",   "y",    "n"};
  if (text.empty()) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_inner = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
  };
  if (!is_letter(text.front()) && text.front() != '_') return false;
  if (!std::all_of(text.begin(), text.end(), is_inner)) return false;
  std::string lower{text};
  for (char& c : lower) c = (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(kReserved.begin(), kReserved.end(), lower) == kReserved.end();
}

std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string text_of(std::string_view text, bool needs_quotes) {
  return needs_quotes && !is_plain_word(text) ? quoted(text) : std::string{text};
}

bool is_inline(const ConfigNode& node) {
  if (node.kind == Kind::kMap) return node.entries.empty();
  if (node.kind != Kind::kList) return true;
  return std::all_of(node.items.begin(), node.items.end(), is_inline);
}

std::string inline_text(const ConfigNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kScalar:
      return text_of(node.text, node.quoted);
    case Kind::kMap:
      return "{}";
    case Kind::kList:
      break;
  }
  std::vector<std::string> items;
  for (const ConfigNode& item : node.items) items.push_back(inline_text(item));
  return "[" + join(items) + "]";
}

void write_block(std::string& out, const ConfigNode& node, std::size_t indent) {
  const std::string margin(indent, ' ');
  for (const auto& [key, child] : node.entries) {
    out += margin + text_of(key, true) + ":";
    if (is_inline(child)) {
      out += " " + inline_text(child) + "\n";
    } else {
      out += "\n";
      write_block(out, child, indent + 2);
    }
  }
  for (const ConfigNode& child : node.items) {
    std::string item;
    if (is_inline(child)) {
      item = margin + "  " + inline_text(child) + "\n";
    } else {
      write_block(item, child, indent + 2);
    }
    item[indent] = '-';  // an item is its text, moved in, with a dash in the margin
    out += item;
  }
}

}  // namespace

std::string to_yaml(const ConfigNode& node) {
  if (is_inline(node)) return inline_text(node) + "\n";
  std::string out;
  write_block(out, node, 0);
  return out;
}

namespace config_detail {

ConfigNode scalar(std::string text, bool quoted) {
  ConfigNode node;
  node.kind = Kind::kScalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

std::string number_text(double value) {
  if (std::isnan(value)) return ".nan";  // shown, but refused by the reader
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace config_detail
}  // namespace pacml

#include "apps/cli/text_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

namespace pacml::apps {
namespace {

// Characters that a terminal shows: continuation bytes of UTF-8 take no column.
std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

const std::string kGap = "  ";

// Columns from `begin` on that fit beside the first one: one at least.
std::size_t end_of_block(const std::vector<std::size_t>& widths, std::size_t begin,
                         std::size_t width) {
  std::size_t end = begin;
  std::size_t used = widths[0];
  while (end < widths.size()) {
    used += kGap.size() + widths[end];
    if (used > width && end > begin) break;
    ++end;
  }
  return end;
}

std::string padding(std::size_t width, std::string_view text) {
  return std::string(width - shown_width(text), ' ');
}

}  // namespace

std::string shown(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::string align_columns(const std::vector<std::vector<std::string>>& given, std::size_t width) {
  if (given.empty()) return {};
  std::vector<std::vector<std::string>> rows = given;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = shown(std::move(cell));
  }
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], shown_width(row[i]));
    }
  }
  std::string text;
  std::size_t begin = 1;
  do {
    const std::size_t end = end_of_block(widths, begin, width);
    if (!text.empty()) text += "\n";
    for (const auto& row : rows) {
      text += row[0] + (row.size() > begin ? padding(widths[0], row[0]) : "");
      for (std::size_t i = begin; i < std::min(end, row.size()); ++i) {
        text += kGap + padding(widths[i], row[i]) + row[i];
      }
      text += "\n";
    }
    begin = end;
  } while (begin < widths.size());
  return text;
}

std::string format_number(double value, int decimals) {
  if (std::isnan(value)) return "-";
  char text[64];
  const bool plain = std::abs(value) < 1e6;
  std::snprintf(text, sizeof text, plain ? "%.*f" : "%.*e", plain ? decimals : 3, value);
  return text;
}

}  // namespace pacml::apps

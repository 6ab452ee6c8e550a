#include "apps/roles/status_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apps/cli/text_table.h"
#include "common/json_text.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

std::string number_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  char text[32];
  // Large ones are counted, small ones compared.
  std::snprintf(text, sizeof text, std::abs(value) < 1e4 ? "%.4g" : "%.0f", value);
  return text;
}

std::string cell(const json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return number_text(value.get<double>());
  return shown(value.is_string() ? value.get<std::string>() : json_text(value));
}

bool is_table(const json& value) {
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [](const json& each) { return each.is_object(); });
}

struct Parts {
  Rows figures;
  std::vector<std::pair<std::string, const json*>> tables;
};

void sort_out(const json& object, const std::string& before, Parts& parts) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = before.empty() ? shown(key) : before + "." + shown(key);
    if (value.is_object()) {
      sort_out(value, name, parts);
    } else if (is_table(value)) {
      parts.tables.emplace_back(name, &value);
    } else {
      parts.figures.push_back({name, cell(value)});
    }
  }
}

// A column for each key that any of them has.
Rows table_of(const json& list) {
  Rows rows(1);
  for (const json& each : list) {
    for (const auto& [key, value] : each.items()) {
      if (std::ranges::find(rows[0], key) == rows[0].end()) rows[0].push_back(key);
    }
  }
  for (const json& each : list) {
    std::vector<std::string> row;
    for (const std::string& key : rows[0]) row.push_back(each.contains(key) ? cell(each[key]) : "");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string status_text(const json& status, std::size_t width) {
  constexpr const char* kSentence = "limiter";
  std::string text;
  if (status.contains(kSentence)) text += cell(status[kSentence]) + "\n\n";
  Parts parts;
  sort_out(status, "", parts);
  std::size_t longest = 0;
  for (const auto& row : parts.figures) longest = std::max(longest, row[0].size());
  for (const auto& row : parts.figures) {
    text += row[0] + std::string(longest - row[0].size() + 2, ' ') + row[1] + "\n";
  }
  for (const auto& [name, list] : parts.tables) {
    text += "\n" + name + "\n" + align_columns(table_of(*list), width);
  }
  return text;
}

}  // namespace pacml::apps

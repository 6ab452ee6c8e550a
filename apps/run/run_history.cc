#include "apps/run/run_history.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/plain_file.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

}  // namespace

RunHistory::RunHistory(std::filesystem::path file)
    : file_(std::move(file)), newest_(std::make_unique<json>(json::object())) {}
RunHistory::RunHistory(RunHistory&&) noexcept = default;
RunHistory& RunHistory::operator=(RunHistory&&) noexcept = default;
RunHistory::~RunHistory() = default;

void RunHistory::begin_anew() { *this = RunHistory(std::move(file_)); }

bool RunHistory::read(std::size_t budget) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(file_, absent);
  if (absent) return false;
  if (size < offset_) begin_anew();  // another file of the same name
  std::ifstream file = open_plain_file(file_);
  if (!file.is_open() || !file.seekg(static_cast<std::streamoff>(offset_))) return false;
  const std::uintmax_t wanted = std::max(budget, 2 * kLongestLine);  // so that a line comes whole
  std::string chunk(std::min(wanted, size - offset_), '\0');
  file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
  chunk.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  std::size_t begin = 0;
  for (std::size_t end = chunk.find('\n'); end != std::string::npos;
       end = chunk.find('\n', begin)) {
    if (!std::exchange(skipping_, false)) take(std::string_view(chunk).substr(begin, end - begin));
    begin = end + 1;
  }
  const bool is_end = offset_ + chunk.size() >= size;
  // The rest is another time's, unless it is longer than any line.
  if (chunk.size() - begin > kLongestLine) {
    if (!std::exchange(skipping_, true)) ++broken_;
    begin = chunk.size();
  }
  offset_ += begin;
  is_cut_ = is_end && begin < chunk.size();
  return !is_end && begin > 0;
}

void RunHistory::take(std::string_view text) {
  if (text.empty()) return;
  json line = json::parse(text, nullptr, false);
  if (!line.is_object()) {
    ++broken_;
    return;
  }
  ++lines_;
  if (rows_ == 0 || lines_in_last_row_ == lines_per_row_) {
    if (rows_ == kMostRows) halve();
    ++rows_;
    lines_in_last_row_ = 0;
  }
  ++lines_in_last_row_;
  for (const auto& [name, value] : line.items()) {
    if (value.is_object()) {
      for (const auto& [inner, number] : value.items()) add(name + "/" + inner, number);
    } else {
      add(name, value);
    }
  }
  *newest_ = std::move(line);
}

void RunHistory::add(const std::string& name, const json& value) {
  if (!value.is_number()) return;
  auto column = cells_.find(name);
  if (column == cells_.end()) {
    if (cells_.size() == kMostCurves) return;
    column = cells_.emplace(name, std::vector<Cell>()).first;
  }
  column->second.resize(rows_);
  column->second.back().sum += value.get<double>();
  ++column->second.back().count;
}

void RunHistory::halve() {
  for (auto& [name, column] : cells_) {
    column.resize(rows_);
    for (std::size_t r = 0; 2 * r < rows_; ++r) {
      Cell cell = column[2 * r];
      if (2 * r + 1 < rows_) {
        cell.sum += column[2 * r + 1].sum;
        cell.count += column[2 * r + 1].count;
      }
      column[r] = cell;
    }
    column.resize((rows_ + 1) / 2);
  }
  rows_ = (rows_ + 1) / 2;
  lines_per_row_ *= 2;
}

RunHistory::Curves RunHistory::curves() const {
  Curves out;
  out.rows = rows_;
  for (const auto& [name, column] : cells_) {
    std::vector<double> values(rows_, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t r = 0; r < column.size(); ++r) {
      if (column[r].count > 0) values[r] = column[r].sum / static_cast<double>(column[r].count);
    }
    out.columns.emplace(name, std::move(values));
  }
  return out;
}

const json& RunHistory::newest() const { return *newest_; }

}  // namespace pacml::apps

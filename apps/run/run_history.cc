#include "apps/run/run_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/json_at.h"
#include "common/json_text.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // as no number compares

}  // namespace

RunHistory::RunHistory(std::filesystem::path file)
    : file_(std::move(file)), newest_(std::make_unique<json>(json::object())) {}
RunHistory::RunHistory(RunHistory&&) noexcept = default;
RunHistory& RunHistory::operator=(RunHistory&&) noexcept = default;
RunHistory::~RunHistory() = default;

void RunHistory::begin_anew() {
  FollowedFile file = std::move(file_);
  *this = RunHistory({});
  file_ = std::move(file);
}

bool RunHistory::read(std::size_t budget) {
  const auto piece = file_.read(std::max(budget, 2 * kLongestLine));  // so that a line comes whole
  if (!piece) return false;
  if (piece->is_another) begin_anew();
  const std::string_view bytes = piece->bytes;
  std::size_t begin = 0;
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos;
       end = bytes.find('\n', begin)) {
    if (!std::exchange(skipping_, false)) take(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  // The rest is another time's, unless it is longer than any line.
  if (bytes.size() - begin > kLongestLine) {
    if (!std::exchange(skipping_, true)) ++broken_;
    begin = bytes.size();
  }
  file_.advance(begin);
  is_cut_ = piece->is_end && begin < bytes.size();
  return !piece->is_end && begin > 0;
}

void RunHistory::take(std::string_view text) {
  if (text.empty()) return;
  auto line = parse_json_text(text);
  if (!line || !line->is_object()) {
    ++broken_;
    return;
  }
  ++lines_;
  const double decisions = number_at(*line, "/decisions").value_or(kUnknown);
  go_back(decisions);
  if (rows() == 0 || lines_in_last_row_ == lines_per_row_) {
    if (rows() == kMostRows) halve();
    decisions_.push_back(kUnknown);
    lines_in_last_row_ = 0;
  }
  ++lines_in_last_row_;
  if (!std::isnan(decisions)) decisions_.back() = decisions;
  for (const auto& [name, value] : line->items()) {
    if (value.is_object()) {
      for (const auto& [inner, number] : value.items()) add(name + "/" + inner, number);
    } else {
      add(name, value);
    }
  }
  *newest_ = *std::move(line);
}

void RunHistory::go_back(double decisions) {
  const auto is_behind = [decisions](double row) { return row > decisions; };
  const auto first = std::ranges::find_if(decisions_, is_behind);
  if (first == decisions_.end()) return;
  decisions_.erase(first, decisions_.end());
  for (auto& [name, column] : cells_) column.resize(std::min(column.size(), rows()));
  lines_in_last_row_ = lines_per_row_;
}

void RunHistory::add(const std::string& name, const json& value) {
  if (!value.is_number()) return;
  auto column = cells_.find(name);
  if (column == cells_.end()) {
    if (cells_.size() == kMostCurves) return;
    column = cells_.emplace(name, std::vector<Cell>()).first;
  }
  column->second.resize(rows());
  column->second.back().sum += value.get<double>();
  ++column->second.back().count;
}

void RunHistory::halve() {
  const std::size_t before = rows();
  const std::size_t after = (before + 1) / 2;
  for (auto& [name, column] : cells_) {
    column.resize(before);
    for (std::size_t r = 0; 2 * r < before; ++r) {
      Cell cell = column[2 * r];
      if (2 * r + 1 < before) {
        cell.sum += column[2 * r + 1].sum;
        cell.count += column[2 * r + 1].count;
      }
      column[r] = cell;
    }
    column.resize(after);
  }
  for (std::size_t r = 0; 2 * r < before; ++r) {
    const double last = decisions_[std::min(2 * r + 1, before - 1)];
    decisions_[r] = std::isnan(last) ? decisions_[2 * r] : last;
  }
  decisions_.resize(after);
  lines_per_row_ *= 2;
}

RunHistory::Curves RunHistory::curves() const {
  Curves out;
  out.rows = rows();
  for (const auto& [name, column] : cells_) {
    std::vector<double> values(rows(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t r = 0; r < column.size(); ++r) {
      if (column[r].count > 0) values[r] = column[r].sum / static_cast<double>(column[r].count);
    }
    out.columns.emplace(name, std::move(values));
  }
  return out;
}

const json& RunHistory::newest() const { return *newest_; }

}  // namespace pacml::apps

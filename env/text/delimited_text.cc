#include "env/text/delimited_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "common/read_number.h"
#include "common/result.h"

namespace pacml::env {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 16;
constexpr std::size_t kMostFields = 1024;

// A line without its end, in bounded memory; false: the end of the text, or of what is allowed.
enum class Line { kRead, kEnd, kTooLong };
Line read_line(std::istream& in, std::string& out) {
  out.clear();
  std::array<char, 4096> part{};
  while (true) {
    in.getline(part.data(), part.size());
    const auto read = static_cast<std::size_t>(in.gcount());
    const bool is_cut = in.fail() && read == part.size() - 1;
    if (is_cut) {
      in.clear(in.rdstate() & ~std::ios::failbit);
    } else if (in.fail()) {
      return out.empty() ? Line::kEnd : Line::kRead;
    }
    const bool has_end = !is_cut && !in.eof();
    out.append(part.data(), read - (has_end ? 1 : 0));
    if (out.size() > kMostBytes) return Line::kTooLong;
    if (!is_cut) return Line::kRead;
  }
}

std::string spelled(double v) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
  return {text.data(), end};
}

}  // namespace

DelimitedText::DelimitedText(std::istream& in, std::string name, char delimiter)
    : in_(in), name_(std::move(name)), delimiter_(delimiter) {}

bool DelimitedText::next() {
  while (true) {
    const Line read = read_line(in_, text_);
    if (read == Line::kEnd && in_.bad()) throw UserError(name_ + ": it cannot be read on");
    if (read == Line::kEnd) return false;
    ++line_;
    if (line_ == 1 && text_.starts_with(kByteOrderMark)) text_.erase(0, kByteOrderMark.size());
    fields_.clear();
    if (read == Line::kTooLong) fail(0, "the line is longer than 64 KiB");
    if (!text_.empty() && text_.back() == '\r') text_.pop_back();
    if (text_.empty()) continue;
    split();
    return true;
  }
}

void DelimitedText::split() {
  std::size_t at = 0;
  while (true) {
    if (fields_.size() == kMostFields) fail(0, "the line has more than 1024 fields");
    Field& field = fields_.emplace_back(Field{{}, at + 1});
    if (at < text_.size() && text_[at] == '"') {
      for (++at;; ++at) {
        if (at >= text_.size()) fail(fields_.size() - 1, "the quote does not end in its line");
        if (text_[at] != '"') {
          field.text += text_[at];
        } else if (at + 1 < text_.size() && text_[at + 1] == '"') {
          field.text += text_[++at];
        } else {
          break;
        }
      }
      ++at;
      if (at < text_.size() && text_[at] != delimiter_) {
        fail(fields_.size() - 1, "the quote ends within the field");
      }
    } else {
      const std::size_t end = std::min(text_.find(delimiter_, at), text_.size());
      field.text = text_.substr(at, end - at);
      at = end;
    }
    if (at >= text_.size()) return;
    ++at;
  }
}

void DelimitedText::fail(std::size_t field, const std::string& what) const {
  const std::size_t column = field < fields_.size() ? fields_[field].column : 1;
  throw UserError(name_ + ":" + std::to_string(line_) + ":" + std::to_string(column) + ": " + what);
}

double DelimitedText::number(std::size_t field, double least, double most) const {
  const std::string_view text = (*this)[field];
  const auto value = read_number<double>(text);
  if (!value || !(*value >= least && *value <= most)) {
    fail(field, "expected a number from " + spelled(least) + " to " + spelled(most) + ", found \"" +
                    std::string(text.substr(0, 40)) + "\"");
  }
  return *value;
}

int DelimitedText::whole(std::size_t field, int least, int most) const {
  const double value = number(field, least, most);
  if (value != std::floor(value)) fail(field, "expected a whole number");
  return static_cast<int>(value);
}

std::optional<double> DelimitedText::optional_number(std::size_t field, double least,
                                                     double most) const {
  if ((*this)[field].empty()) return std::nullopt;
  return number(field, least, most);
}

double DelimitedText::date(std::size_t field) const {
  const auto seconds = parse_date((*this)[field]);
  if (!seconds) fail(field, "expected a time like 2020-06-09 18:41:01");
  return *seconds;
}

std::optional<double> parse_date(std::string_view text) {
  constexpr std::string_view kPattern = "0000-00-00 00:00:00";
  if (text.size() != kPattern.size()) return std::nullopt;
  std::array<int, 6> parts{};
  std::size_t part = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kPattern[i] != '0') {
      if (text[i] != kPattern[i]) return std::nullopt;
      ++part;
    } else if (text[i] < '0' || text[i] > '9') {
      return std::nullopt;
    } else {
      parts[part] = 10 * parts[part] + (text[i] - '0');
    }
  }
  const std::chrono::year_month_day day{std::chrono::year(parts[0]),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!day.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch().count();
  return 86400.0 * static_cast<double>(days) + 3600.0 * parts[3] + 60.0 * parts[4] + parts[5];
}

}  // namespace pacml::env

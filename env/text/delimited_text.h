#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pacml::env {

// As spreadsheets and some editors begin a file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Rows of fields out of a text, line after line, in bounded memory: between delimiters, or in
// quotes (RFC 4180, within a line). Errors are UserErrors that begin with "FILE:line:column: ".
// A byte-order mark at the beginning is passed over. Thread-confined.
class DelimitedText {
 public:
  // Reads from `in`, borrowed; `name` is the file's, for errors.
  DelimitedText(std::istream& in, std::string name, char delimiter);

  // The next line that is not empty; false: the end. UserError: a line of more than 64 KiB or 1024
  // fields, a quote that does not end, a file that cannot be read on.
  bool next();
  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t field) const { return fields_[field].text; }
  [[nodiscard]] std::int64_t line() const { return line_; }

  // Of the current row. UserError: it is none in least .. most.
  [[nodiscard]] double number(std::size_t field, double least, double most) const;
  [[nodiscard]] int whole(std::size_t field, int least, int most) const;
  // Absent where the field is empty.
  [[nodiscard]] std::optional<double> optional_number(std::size_t field, double least,
                                                      double most) const;
  // "2020-06-09 18:41:01" in seconds since 1970, as if in UTC.
  [[nodiscard]] double date(std::size_t field) const;
  // About a field, or the line where that is not there.
  [[noreturn]] void fail(std::size_t field, const std::string& what) const;

 private:
  struct Field {
    std::string text;
    std::size_t column = 0;  // from 1
  };
  void split();

  std::istream& in_;
  std::string name_;
  char delimiter_;
  std::string text_;
  std::int64_t line_ = 0;
  std::vector<Field> fields_;
};

// Seconds since 1970 of "2020-06-09 18:41:01", as if in UTC; absent: it is no such date.
[[nodiscard]] std::optional<double> parse_date(std::string_view text);

}  // namespace pacml::env

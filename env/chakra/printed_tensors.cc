#include "env/chakra/printed_tensors.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace pacml::env {
namespace {

constexpr std::size_t kNumbers = 5;  // of a tensor, before its device
constexpr std::size_t kElements = 3;
constexpr std::size_t kElementBytes = 4;

// The list that is open, the innermost one: lists around it are no tensors, as a tensor holds none.
class OpenList {
 public:
  void open() { *this = OpenList(true); }
  void number(std::uint64_t value) {
    if (numbers_ < kNumbers && !has_device_) {
      values_.at(numbers_++) = value;
    } else {
      may_be_tensor_ = false;
    }
  }
  void text() {
    if (has_device_ || numbers_ != kNumbers) may_be_tensor_ = false;
    has_device_ = true;
  }
  void other() { may_be_tensor_ = false; }
  // What the list takes, which is closed; the one around it is no tensor.
  [[nodiscard]] double close() {
    const bool is_tensor = may_be_tensor_ && has_device_;
    may_be_tensor_ = false;
    if (!is_tensor) return 0;
    return static_cast<double>(values_[kElements]) * static_cast<double>(values_[kElementBytes]);
  }

  OpenList() = default;

 private:
  explicit OpenList(bool may_be_tensor) : may_be_tensor_(may_be_tensor) {}

  std::array<std::uint64_t, kNumbers> values_{};
  std::size_t numbers_ = 0;
  bool has_device_ = false;
  bool may_be_tensor_ = false;
};

// Where the text that begins at `at`, with its quote, has ended.
std::size_t behind_text(std::string_view values, std::size_t at) {
  const char quote = values[at++];
  while (at < values.size() && values[at] != quote) at += values[at] == '\\' ? 2 : 1;
  return at + 1;
}

}  // namespace

double bytes_of_printed_tensors(std::string_view values) {
  constexpr std::string_view kBetween = " ,\t\r\n";
  double bytes = 0;
  OpenList list;
  for (std::size_t at = 0; at < values.size();) {
    const char c = values[at];
    if (c == '\'' || c == '"') {
      list.text();
      at = behind_text(values, at);
    } else if (c == '[' || c == '(') {
      list.open();
      ++at;
    } else if (c == ']' || c == ')') {
      bytes += list.close();
      ++at;
    } else if (kBetween.find(c) != std::string_view::npos) {
      ++at;
    } else {
      const std::size_t end = values.find_first_of(" ,\t\r\n[]()'\"", at);
      const std::string_view word = values.substr(at, end - at);
      std::uint64_t number = 0;
      const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
      if (read.ec == std::errc() && read.ptr == word.data() + word.size()) {
        list.number(number);
      } else {
        list.other();
      }
      at += word.size();
    }
  }
  return bytes;
}

}  // namespace pacml::env

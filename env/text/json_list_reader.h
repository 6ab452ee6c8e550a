#pragma once

#include <cstddef>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace pacml::env {

// The elements of a JSON document that is a list, one after the other, so that memory does not grow
// with the document. Borrows the stream. Thread-confined.
class JsonListReader {
 public:
  // `name`: the file's, for errors.
  JsonListReader(std::istream& in, std::string name);

  // The next element; absent: the list is over, and so is the document. UserError,
  // "FILE:line:column: ...": it is no list, no JSON from there on, nests deeper than
  // kMostJsonDepth, or an element is longer than 64 MiB.
  [[nodiscard]] std::optional<nlohmann::json> next();

 private:
  struct Place {
    std::size_t line = 1;
    std::size_t column = 1;  // bytes
    void pass(char c);
  };
  [[noreturn]] void refuse(const Place& place, const std::string& why) const;
  // What comes next; absent: the end.
  [[nodiscard]] std::optional<char> look();
  // The same behind blanks.
  [[nodiscard]] std::optional<char> look_behind_blanks();
  // Pre: something comes.
  void take() { at_.pass(buffer_[taken_++]); }
  void begin();
  void end();
  // Up to the comma or bracket behind an element.
  void read_element();
  [[nodiscard]] nlohmann::json parse(const Place& start) const;

  std::istream& in_;
  std::string name_;
  std::string buffer_;
  std::size_t taken_ = 0;  // of the buffer
  std::string text_;       // of the element
  Place at_;               // of what comes next
  enum class State { kBefore, kFirst, kBehindElement, kOver } state_ = State::kBefore;
};

}  // namespace pacml::env

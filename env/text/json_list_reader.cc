#include "env/text/json_list_reader.h"

#include <algorithm>
#include <ios>
#include <string_view>
#include <utility>

#include "common/json_text.h"
#include "common/result.h"

namespace pacml::env {
namespace {

constexpr std::streamsize kBufferBytes = 1 << 16;
constexpr std::size_t kMostElementBytes = std::size_t{1} << 26;
constexpr std::string_view kBlanks = " \t\r\n";
constexpr const char* kNoJson = "it is no JSON from here on";

}  // namespace

void JsonListReader::Place::pass(char c) {
  if (c == '\n') {
    ++line;
    column = 1;
  } else {
    ++column;
  }
}

JsonListReader::JsonListReader(std::istream& in, std::string name)
    : in_(in), name_(std::move(name)) {}

void JsonListReader::refuse(const Place& place, const std::string& why) const {
  throw UserError(name_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
                  ": " + why);
}

std::optional<char> JsonListReader::look() {
  if (taken_ == buffer_.size()) {
    buffer_.resize(kBufferBytes);
    in_.read(buffer_.data(), kBufferBytes);
    if (in_.bad()) throw UserError(name_ + ": it cannot be read");
    buffer_.resize(static_cast<std::size_t>(in_.gcount()));
    taken_ = 0;
    if (buffer_.empty()) return std::nullopt;
  }
  return buffer_[taken_];
}

std::optional<char> JsonListReader::look_behind_blanks() {
  auto c = look();
  for (; c && kBlanks.find(*c) != std::string_view::npos; c = look()) take();
  return c;
}

void JsonListReader::begin() {
  if (look_behind_blanks() != '[') refuse(at_, "expected a list");
  take();
  state_ = State::kFirst;
}

void JsonListReader::end() {
  take();
  if (look_behind_blanks()) refuse(at_, kNoJson);
  state_ = State::kOver;
}

std::optional<nlohmann::json> JsonListReader::next() {
  if (state_ == State::kBefore) begin();
  if (state_ == State::kOver) return std::nullopt;
  const auto c = look_behind_blanks();
  if (c == ']') {
    end();
    return std::nullopt;
  }
  if (state_ == State::kBehindElement) {
    if (c != ',') refuse(at_, kNoJson);
    take();
    static_cast<void>(look_behind_blanks());
  }
  const Place start = at_;
  read_element();
  state_ = State::kBehindElement;
  return parse(start);
}

void JsonListReader::read_element() {
  text_.clear();
  int depth = 1;  // the list
  bool is_in_string = false;
  bool is_escaped = false;
  while (true) {
    const auto next = look();
    if (!next) refuse(at_, kNoJson);
    const char c = *next;
    if (is_escaped) {
      is_escaped = false;
    } else if (is_in_string) {
      is_escaped = c == '\\';
      is_in_string = c != '"';
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostJsonDepth) {
        refuse(at_, "it nests lists and objects deeper than " + std::to_string(kMostJsonDepth));
      }
    } else if (depth == 1 && (c == ',' || c == ']' || c == '}')) {
      return;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    if (text_.size() == kMostElementBytes) refuse(at_, "an element is longer than 64 MiB");
    text_ += c;
    take();
  }
}

nlohmann::json JsonListReader::parse(const Place& start) const {
  try {
    return nlohmann::json::parse(text_);
  } catch (const nlohmann::json::parse_error& error) {
    Place place = start;
    const std::size_t before = std::min(error.byte > 0 ? error.byte - 1 : 0, text_.size());
    for (std::size_t i = 0; i < before; ++i) place.pass(text_[i]);
    refuse(place, kNoJson);
  } catch (const nlohmann::json::out_of_range&) {
    refuse(start, "it has a number that is beyond all bounds");
  }
}

}  // namespace pacml::env

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/result.h"

namespace pacml {

// Lists and objects of somebody's document within one another: more than anybody means, few enough
// for code that calls itself for each (comparing, copying and writing a document do).
inline constexpr int kMostJsonDepth = 64;

// Whether a text, where it is JSON, nests no deeper than that. Pure.
[[nodiscard]] bool is_shallow_json(std::string_view text);

// A document that a user or a peer wrote. Absent, with what is wrong in a clause that begins with
// "it": it is no JSON, or nests deeper than kMostJsonDepth. Pure.
[[nodiscard]] Result<nlohmann::json> parse_json_text(std::string_view text);

// A document as text, on one line unless `indent` says otherwise. Whatever a name holds (a path, a
// model of somebody's), it is written as far as it is UTF-8; numbers that JSON lacks become null.
template <typename Json>
[[nodiscard]] std::string json_text(const Json& document, int indent = -1) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pacml

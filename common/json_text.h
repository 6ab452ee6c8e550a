#pragma once

#include <nlohmann/json.hpp>
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

}  // namespace pacml

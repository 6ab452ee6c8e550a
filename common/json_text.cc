#include "common/json_text.h"

#include <string>
#include <utility>

namespace pacml {
namespace {

// Without the library's name of the error, "[json.exception.parse_error.101] ".
std::string said_by(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const auto end = text.find("] ");
  return std::string(text.starts_with('[') && end != std::string_view::npos ? text.substr(end + 2)
                                                                            : text);
}

}  // namespace

bool is_shallow_json(std::string_view text) {
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostJsonDepth) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

Result<nlohmann::json> parse_json_text(std::string_view text) {
  if (!is_shallow_json(text)) {
    return fail(Errc::kOverLimit,
                "it nests lists and objects deeper than " + std::to_string(kMostJsonDepth));
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    return fail(Errc::kCorruptFrame, "it is no JSON document: " + said_by(error));
  }
}

}  // namespace pacml

#include "common/json_at.h"

namespace pacml {

using nlohmann::json;

std::optional<double> number_at(const json& document, const json::json_pointer& at) {
  if (!document.contains(at) || !document[at].is_number()) return std::nullopt;
  return document[at].get<double>();
}

std::optional<double> number_at(const json& document, const char* pointer) {
  return number_at(document, json::json_pointer(pointer));
}

std::string text_at(const json& document, const char* pointer) {
  const json::json_pointer at(pointer);
  return document.contains(at) && document[at].is_string() ? document[at].get<std::string>()
                                                           : std::string();
}

}  // namespace pacml

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

// What stands at a JSON pointer (RFC 6901) of a document, whatever the document is. Pure.
namespace pacml {

// nullopt: no number.
[[nodiscard]] std::optional<double> number_at(const nlohmann::json& document,
                                              const nlohmann::json::json_pointer& at);
[[nodiscard]] std::optional<double> number_at(const nlohmann::json& document, const char* pointer);

// Empty: no string.
[[nodiscard]] std::string text_at(const nlohmann::json& document, const char* pointer);

}  // namespace pacml

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pacml::env {

// The document in a user's file of up to 256 MiB. UserError names the file: it cannot be read, is
// larger, or is no JSON. TryAgainError: it cannot be read now.
[[nodiscard]] nlohmann::json read_json_file(const std::string& file);

}  // namespace pacml::env

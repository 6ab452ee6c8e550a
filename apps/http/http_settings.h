#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pacml::apps {

// Where a role serves its pages over HTTP, and who may read them. Immutable value type.
struct HttpSettings {
  std::string host = "127.0.0.1";  // an IP address
  std::uint16_t port = 0;          // 0: any free one
  std::string token;               // asked for where figures are told; empty: of nobody
};

// From `--http [HOST:]PORT` and `--http-token-file FILE`; neither: no pages. A port alone is this
// machine's. UserError: not an address; an address that others can reach, without a token; a file
// that cannot be read, is open to others, or holds no token.
[[nodiscard]] std::optional<HttpSettings> make_http_settings(
    const std::optional<std::string>& address, const std::optional<std::string>& token_file);

}  // namespace pacml::apps

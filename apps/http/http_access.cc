#include "apps/http/http_access.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/asio.h"

namespace pacml::apps {
namespace {

// In a time that tells nothing of where the two differ; their lengths are no secret.
bool equal_secrets(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ = static_cast<unsigned char>(differ | (a[i] ^ b[i]));
  }
  return differ == 0;
}

// RFC 9110: the scheme's name in any case, then spaces.
std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) return {};
  }
  authorization.remove_prefix(kScheme.size());
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
  return authorization;
}

// "localhost", "localhost:9100", "127.0.0.1:9100", "[::1]:9100": a name of this machine that nobody
// else can give away, or an address, which is no name.
bool leads_here_only(std::string_view host) {
  const bool bracketed = host.starts_with('[');
  const auto end = bracketed ? host.find(']') : host.rfind(':');
  if (bracketed && end == std::string_view::npos) return false;
  const std::string name(host.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end));
  boost::system::error_code is_name;
  static_cast<void>(asio::ip::make_address(name, is_name));
  if (!is_name) return true;
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower == "localhost" || lower.ends_with(".localhost");
}

}  // namespace

HttpAccess::HttpAccess(std::string token) : token_(std::move(token)) {}

std::optional<HttpReply> HttpAccess::refuse_host(const HttpRequest& request) const {
  if (!token_.empty() || request.host.empty() || leads_here_only(request.host)) return std::nullopt;
  return HttpReply{
      .status = 403,
      .body = "without a token, these pages are for localhost, not for " + request.host + "\n"};
}

std::optional<HttpReply> HttpAccess::refuse_reader(const HttpRequest& request) const {
  if (token_.empty() || equal_secrets(bearer_token(request.authorization), token_)) {
    return std::nullopt;
  }
  return HttpReply{.status = 401, .body = "this page asks for the token of --http-token-file\n"};
}

}  // namespace pacml::apps

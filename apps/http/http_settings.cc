#include "apps/http/http_settings.h"

#include <algorithm>
#include <string_view>

#include "common/asio.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/secret_file.h"
#include "common/try_again.h"

namespace pacml::apps {
namespace {

constexpr std::size_t kShortestToken = 16;  // what cannot be guessed over a network

[[noreturn]] void refuse_address(const std::string& text) {
  throw UserError("--http: '" + text +
                  "' is not [HOST:]PORT with an IP address, such as 9100 or 0.0.0.0:9100");
}

// "9100", "0.0.0.0:9100", "[::]:9100", "localhost:9100".
HttpSettings parse_address(const std::string& text) {
  HttpSettings settings;
  std::string_view port = text;
  if (const auto colon = text.rfind(':'); colon != std::string::npos) {
    port = std::string_view(text).substr(colon + 1);
    std::string host = text.substr(0, colon);
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = settings.host;
    boost::system::error_code bad;
    const auto ip = asio::ip::make_address(host, bad);
    if (bad || ip.is_v6() != bracketed) refuse_address(text);
    settings.host = ip.to_string();
  }
  const auto number = read_number<decltype(settings.port)>(port);
  if (!number) refuse_address(text);
  settings.port = *number;
  return settings;
}

std::string read_token(const std::string& file) {
  auto token = read_secret_file(file);
  if (!token) throw_error(token.error());
  if (token->size() < kShortestToken) {
    throw UserError(file + ": a token has at least " + std::to_string(kShortestToken) +
                    " characters; openssl rand -hex 32 makes one");
  }
  // What a header can carry as one word.
  if (!std::ranges::all_of(*token, [](char c) { return c > ' ' && c <= '~'; })) {
    throw UserError(file + ": a token is one word of letters, digits and ASCII punctuation");
  }
  return *std::move(token);
}

}  // namespace

std::optional<HttpSettings> make_http_settings(const std::optional<std::string>& address,
                                               const std::optional<std::string>& token_file) {
  if (!address) {
    if (token_file) throw UserError("--http-token-file: without --http nobody asks for a token");
    return std::nullopt;
  }
  HttpSettings settings = parse_address(*address);
  if (token_file) {
    settings.token = read_token(*token_file);
  } else if (!asio::ip::make_address(settings.host).is_loopback()) {
    throw UserError("--http " + *address +
                    ": others can reach this address, so it needs --http-token-file");
  }
  return settings;
}

}  // namespace pacml::apps

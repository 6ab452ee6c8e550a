#include "common/transport/endpoint.h"

#include <cstddef>
#include <optional>

#include "common/asio.h"
#include "common/result.h"
#include "common/unix_socket.h"

namespace pacml::transport {
namespace {

bool is_port(std::string_view text) {
  if (text == "*") return true;
  if (text.empty() || text.size() > 5) return false;
  unsigned long value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<unsigned long>(c - '0');
  }
  return value >= 1 && value <= 65535;
}

std::optional<asio::ip::address_v6> ipv6_of(const std::string& host) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address_v6(host, error);
  return error ? std::nullopt : std::optional(address);
}

}  // namespace

Endpoint Endpoint::parse(std::string_view text) {
  const std::string quoted = "'" + std::string{text} + "'";
  Endpoint endpoint;
  endpoint.text_ = text;
  const std::size_t separator = text.find("://");
  const std::string_view scheme = text.substr(0, separator);
  const std::string_view rest =
      separator == std::string_view::npos ? std::string_view{} : text.substr(separator + 3);
  if (rest.empty() || (scheme != "tcp" && scheme != "ipc" && scheme != "inproc")) {
    throw UserError(quoted +
                    " is not an address: expected tcp://HOST:PORT, ipc://PATH or inproc://NAME");
  }
  if (scheme == "tcp") {
    endpoint.kind_ = Kind::kTcp;
    const std::size_t colon = rest.rfind(':');
    std::string_view host = rest.substr(0, colon);
    const bool has_port = colon != std::string_view::npos && is_port(rest.substr(colon + 1));
    if (!has_port || host.empty()) {
      throw UserError(quoted + " is not a tcp address: expected tcp://HOST:PORT, PORT 1 to 65535");
    }
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    }
    endpoint.host_ = host;
    endpoint.port_ = rest.substr(colon + 1);
    return endpoint;
  }
  endpoint.kind_ = scheme == "ipc" ? Kind::kIpc : Kind::kInproc;
  endpoint.host_ = rest;
  if (scheme == "ipc" && rest.size() > kLongestSocketPath) {
    throw UserError(quoted + " is too long: the system allows a socket's path " +
                    std::to_string(kLongestSocketPath) + " characters");
  }
  return endpoint;
}

bool Endpoint::is_ipv6() const { return kind_ == Kind::kTcp && ipv6_of(host_).has_value(); }

bool Endpoint::is_everywhere() const {
  if (kind_ != Kind::kTcp) return false;
  return host_ == "*" || host_ == "0.0.0.0" || ipv6_of(host_) == asio::ip::address_v6::any();
}

bool Endpoint::is_local() const {
  if (kind_ != Kind::kTcp) return true;
  const bool is_numeric = host_.find_first_not_of("0123456789.") == std::string::npos;
  return host_ == "localhost" || host_ == "lo" ||
         ipv6_of(host_) == asio::ip::address_v6::loopback() ||
         (is_numeric && host_.starts_with("127."));
}

}  // namespace pacml::transport

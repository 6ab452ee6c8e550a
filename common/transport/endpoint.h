#pragma once

#include <string>
#include <string_view>

namespace pacml::transport {

// An address: tcp://HOST:PORT (to bind, PORT may be * for any free one; an IPv6 address stands in
// brackets; names are those of IPv4 addresses), ipc://PATH, inproc://NAME.
// Immutable value type.
class Endpoint {
 public:
  enum class Kind { kTcp, kIpc, kInproc };

  // Throws UserError: not an address; an ipc path too long for the system.
  [[nodiscard]] static Endpoint parse(std::string_view text);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::string& str() const { return text_; }
  [[nodiscard]] const std::string& host() const { return host_; }  // tcp: without brackets
  [[nodiscard]] const std::string& port() const { return port_; }  // tcp: digits or "*"
  [[nodiscard]] const std::string& path() const {
    return host_;
  }  // ipc and inproc: what follows //
  // Whether it is an IPv6 address that was written out.
  [[nodiscard]] bool is_ipv6() const;
  // Whether it stands for all of a machine's addresses, to bind.
  [[nodiscard]] bool is_everywhere() const;
  // Whether only this machine can reach it.
  [[nodiscard]] bool is_local() const;
  bool operator==(const Endpoint&) const = default;

 private:
  Kind kind_ = Kind::kInproc;
  std::string text_;
  std::string host_;
  std::string port_;
};

}  // namespace pacml::transport

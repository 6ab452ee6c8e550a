#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/transport/allow_list.h"
#include "common/transport/curve.h"

// The decisions of ZeroMQ's authentication protocol (RFC 27), without its sockets. Pure.
namespace pacml::transport {

// The domain of all our sockets: a socket with a domain refuses everybody while nobody answers.
inline constexpr const char* kZapDomain = "pacml";

struct ZapAnswer {
  bool allowed = false;
  std::string address;               // of whoever asks, as ZeroMQ tells it; may be empty
  std::optional<CurveKeyBytes> key;  // that was shown, where one was
  std::vector<std::string> parts;    // of the reply
};

// What a connection is called by its authentication: the key that it showed, as text, and the name
// of its holder.
struct KeyUser {
  CurveKeyBytes key{};
  std::string name;
};
[[nodiscard]] std::string user_text(const KeyUser& user);
// nullopt: no such text.
[[nodiscard]] std::optional<KeyUser> parse_user(std::string_view text);

// Allows a CURVE key of the list in our domain; everything else is denied, whatever the parts are.
[[nodiscard]] ZapAnswer answer_zap(std::span<const std::string> request, const AllowList& allowed);

}  // namespace pacml::transport

#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// CURVE (curvezmq.org): encryption and authentication by elliptic-curve keys. Keys are written as
// Z85 text (ZeroMQ RFC 32) of 40 characters, which stand for 32 bytes.
namespace pacml::transport {

struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};

// What a list of clients calls the holder of the servers' key: the learner, a client of the shards.
inline constexpr std::string_view kServerKeyName = "server";

// What a context's sockets use to talk: those that bind are servers and prove that they hold
// `own.secret_key`; those that connect are clients, which talk to nobody but the holder of
// `server_public_key`.
struct Encryption {
  CurveKeys own;
  std::string server_public_key;
  // Of servers: the file that names the clients that may connect (allow_list.h), read again
  // whenever it changes. Empty: of clients, whose sockets do not bind.
  std::filesystem::path allowed_clients;
};

// From the system's randomness. The public key does not begin with '#', which begins a comment in a
// list of keys. Thread-safe.
[[nodiscard]] CurveKeys generate_curve_keys();

using CurveKeyBytes = std::array<std::byte, 32>;
// nullopt: not 40 characters of Z85. Pure.
[[nodiscard]] std::optional<CurveKeyBytes> decode_curve_key(std::string_view text);
[[nodiscard]] std::string encode_curve_key(const CurveKeyBytes& key);
// The public key that belongs to a secret one. Pre: `secret_key` decodes. Pure.
[[nodiscard]] std::string public_curve_key(const std::string& secret_key);

}  // namespace pacml::transport

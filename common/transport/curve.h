#pragma once

#include <string>

// CURVE (curvezmq.org): encryption and authentication by elliptic-curve keys, as Z85 text of 40
// characters.
namespace pacml::transport {

struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};

// What a context's sockets use to talk: those that bind are servers and prove that they hold
// `own.secret_key`; those that connect are clients, which talk to nobody but the holder of
// `server_public_key`.
struct Encryption {
  CurveKeys own;
  std::string server_public_key;
};

// From the system's randomness. Thread-safe.
[[nodiscard]] CurveKeys generate_curve_keys();

}  // namespace pacml::transport

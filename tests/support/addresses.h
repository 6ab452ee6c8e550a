#pragma once

#include <string>

// Addresses of this machine that no other test program has at the same time, for servers whose
// address must be known before they are there, or that come back to it. Everybody else lets the
// system choose a port ("tcp://127.0.0.1:*") and asks for it.

namespace pacml::testing {

// 127.x.y.`host`, where x and y belong to this process until it ends. Below the ports that the
// system hands out by itself, nothing else is there. `host`: 2..254. Thread-safe.
[[nodiscard]] std::string loopback_host(int host);

// The first of 16 ports in a row, on every address, which belong to this process until it ends and
// at which nobody listens; other ones each time. Thread-safe.
[[nodiscard]] int sixteen_ports();

}  // namespace pacml::testing

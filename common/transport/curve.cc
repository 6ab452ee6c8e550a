#include "common/transport/curve.h"

#include <zmq.h>

#include <array>

#include "common/check.h"

namespace pacml::transport {

CurveKeys generate_curve_keys() {
  std::array<char, 41> public_key{};
  std::array<char, 41> secret_key{};
  PACML_CHECK(zmq_curve_keypair(public_key.data(), secret_key.data()) == 0,
              "libzmq is built with CURVE");
  return {public_key.data(), secret_key.data()};
}

}  // namespace pacml::transport

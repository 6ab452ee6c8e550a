#include "common/transport/curve.h"

#include <zmq.h>

#include <cstdint>

#include "common/check.h"

namespace pacml::transport {
namespace {

constexpr std::size_t kTextSize = 40;
using TextBuffer = std::array<char, kTextSize + 1>;  // libzmq ends its texts with a zero

}  // namespace

CurveKeys generate_curve_keys() {
  TextBuffer public_key{};
  TextBuffer secret_key{};
  do {
    PACML_CHECK(zmq_curve_keypair(public_key.data(), secret_key.data()) == 0,
                "libzmq is built with CURVE");
  } while (public_key.front() == '#');
  return {public_key.data(), secret_key.data()};
}

std::optional<CurveKeyBytes> decode_curve_key(std::string_view text) {
  // libzmq reads up to a zero.
  if (text.size() != kTextSize || text.find('\0') != std::string_view::npos) return std::nullopt;
  CurveKeyBytes key{};
  auto* const bytes = reinterpret_cast<std::uint8_t*>(key.data());
  if (zmq_z85_decode(bytes, std::string(text).c_str()) == nullptr) return std::nullopt;
  return key;
}

std::string encode_curve_key(const CurveKeyBytes& key) {
  TextBuffer text{};
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(key.data());
  PACML_CHECK(zmq_z85_encode(text.data(), bytes, key.size()) != nullptr,
              "32 bytes are a multiple of four");
  return text.data();
}

std::string public_curve_key(const std::string& secret_key) {
  TextBuffer text{};
  PACML_CHECK(decode_curve_key(secret_key).has_value(), "a key that was checked");
  PACML_CHECK(zmq_curve_public(text.data(), secret_key.c_str()) == 0, "libzmq is built with CURVE");
  return text.data();
}

}  // namespace pacml::transport

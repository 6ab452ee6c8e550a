#include "common/check.h"
#include "common/wire/codec.h"
#include "tests/fuzz/common/targets.h"
#include "tests/support/wire_samples.h"

namespace pacml::fuzz {

bool frame(std::span<const std::byte> bytes) {
  const auto message = wire::decode(testing::unflatten(bytes));
  if (!message) return false;
  const auto again = wire::decode(wire::encode(*message));
  // By their bytes: a priority may be no number, which equals nothing.
  PACML_CHECK(again.has_value() && wire::encode(*again) == wire::encode(*message),
              "what decodes must survive a round trip");
  return true;
}

}  // namespace pacml::fuzz

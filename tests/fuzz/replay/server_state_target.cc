#include "tests/fuzz/replay/server_state_target.h"

#include "common/check.h"
#include "replay/server_state.h"

namespace pacml::fuzz {

bool server_state(std::span<const std::byte> bytes) {
  const auto state = replay::decode_server_state(bytes);
  if (!state) return false;
  const Bytes written = replay::encode_server_state(*state);
  const auto again = replay::decode_server_state(written);
  PACML_CHECK(again.has_value() && again->shape == state->shape &&
                  again->accepted == state->accepted &&
                  again->graphs.hashes() == state->graphs.hashes() &&
                  replay::encode_server_state(*again) == written,
              "a shard's state survives a round trip");
  return true;
}

}  // namespace pacml::fuzz

#include <cstdint>

#include "tests/fuzz/replay/server_state_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pacml::fuzz::server_state(std::as_bytes(std::span(data, size)));
  return 0;
}

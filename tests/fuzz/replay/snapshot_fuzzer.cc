#include <cstdint>

#include "tests/fuzz/replay/snapshot_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pacml::fuzz::snapshot(std::as_bytes(std::span(data, size)));
  return 0;
}

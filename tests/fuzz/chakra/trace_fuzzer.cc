#include <cstdint>

#include "tests/fuzz/chakra/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pacml::fuzz::chakra_trace(std::as_bytes(std::span(data, size)));
  return 0;
}

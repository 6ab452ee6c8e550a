#include <cstdint>

#include "tests/fuzz/common/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pacml::fuzz::keys(std::as_bytes(std::span(data, size)));
  return 0;
}

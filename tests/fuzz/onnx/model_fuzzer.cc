#include <cstdint>

#include "tests/fuzz/onnx/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pacml::fuzz::model(std::as_bytes(std::span(data, size)));
  return 0;
}

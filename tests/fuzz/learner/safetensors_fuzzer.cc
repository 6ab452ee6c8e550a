#include <cstddef>
#include <cstdint>

#include "tests/fuzz/learner/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pacml::fuzz::safetensors({reinterpret_cast<const char*>(data), size});
  return 0;
}

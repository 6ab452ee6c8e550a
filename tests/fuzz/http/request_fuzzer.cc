#include <cstdint>

#include "tests/fuzz/http/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pacml::fuzz::http_request(std::as_bytes(std::span(data, size)));
  return 0;
}

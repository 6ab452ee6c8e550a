#pragma once

#include <cstdint>

namespace pacml::env {

// Data that went from one device to another, or, in `placeto`, to all that wanted it. Value type.
struct PlacedTransfer {
  std::int32_t op = 0;
  std::int32_t output = 0;  // numbered over the whole graph
  std::int32_t from = 0;
  std::int32_t to = -1;  // -1: every device that consumes the output, but for `from`
  double asked_us = 0;   // when the operation ended
  double start_us = 0;
  double arrive_us = 0;
  double free_us = 0;      // when its channel takes the next one
  std::int32_t next = -1;  // behind it in its channel's queue
};

}  // namespace pacml::env

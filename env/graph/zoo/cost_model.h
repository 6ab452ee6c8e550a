#pragma once

#include "env/graph/profile.h"
#include "env/graph/zoo/device.h"
#include "env/graph/zoo/network.h"

namespace pacml::env::zoo {

// Roofline (Williams, Waterman and Patterson 2009): an op takes as long as its arithmetic or its
// memory traffic, whichever is longer, plus the host's part and fixed costs:
//
//   t = max(flops / (peak e_c), bytes / (bandwidth e_m)) + images / rate + host bytes / link
//       + kernels t_launch + t_op
//
// In milliseconds, rounded to three decimals as a profiler prints them, so that the figures are the
// same on every machine. No work takes no time. Pure.
[[nodiscard]] double time_ms(const Work& work, const Device& device);

// The network as a profiler would have measured it on the device: op i + 1 is layer i. Pure.
[[nodiscard]] Profile profile_of(const Network& network, const Device& device);

}  // namespace pacml::env::zoo

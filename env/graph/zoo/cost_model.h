#pragma once

#include "env/graph/profile.h"
#include "env/graph/zoo/device.h"
#include "env/graph/zoo/network.h"

namespace pacml::env::zoo {

// Roofline (Williams, Waterman and Patterson 2009): an op takes as long as its arithmetic or its
// memory traffic, whichever is longer, plus the start of its kernels and what the host does:
//
//   t = max(flops / (peak e_c), bytes / (bandwidth e_m)) + launches t_l + images / rate
//       + host bytes / link
//
// In milliseconds, rounded to three decimals as a profiler prints them, so that the figures are the
// same on every machine. Work that is not zero takes at least 0.001 ms. Pure.
[[nodiscard]] double time_ms(const Work& work, const Device& device);

// The network as a profiler would have measured it on the device: op i + 1 is layer i. Pure.
[[nodiscard]] Profile profile_of(const Network& network, const Device& device);

}  // namespace pacml::env::zoo

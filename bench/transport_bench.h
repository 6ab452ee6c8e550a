#pragma once

#include "bench/figures.h"

namespace pacml::bench {

// Experience between two threads of this process over real sockets, without a learner: messages of
// 50 steps of 32 environments, 17 globals and 17 actions.
//   encode_seconds, decode_seconds          one message; decoding includes every check
//   bytes_per_decision
//   {transport}_decisions_per_second        transport = ipc, tcp: encoded, sent, received, decoded
// Takes about two seconds.
[[nodiscard]] Figures run_transport_bench();

}  // namespace pacml::bench

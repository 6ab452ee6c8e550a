#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/result.h"
#include "common/wire/frame.h"
#include "common/wire/messages.h"

namespace pacml::wire {

// The largest things that are believed. Memory use of decoding is bounded by the bytes received and
// these.
struct WireLimits {
  std::size_t max_envelope_bytes = std::size_t{1} << 18;
  std::size_t max_payload_bytes = std::size_t{1} << 28;
  std::size_t max_config_text = std::size_t{1} << 16;  // bytes
  std::size_t max_text = 1024;                         // bytes of any other string
  std::uint64_t max_parameters = std::uint64_t{1} << 26;
  std::uint32_t max_nodes = 1U << 20;
  std::uint32_t max_edges = 1U << 22;
  std::uint32_t max_feature_width = 1024;
  std::size_t max_status_text = std::size_t{1} << 16;  // bytes
  SequenceLimits sequences;
  TransitionLimits transitions;
};

// Strings are cut to the default limits; everything else must be within them (PACML_CHECK).
// Sequences and transitions must be valid. Pure.
[[nodiscard]] Frame encode(const Message& message);

// Never aborts and never throws but for std::bad_alloc, whatever the bytes. What is returned holds
// everything that the messages' comments promise. Pure.
// kVersionMismatch: another protocol version. kOverLimit: larger than `limits`. kCorruptFrame:
// anything else that encode does not write.
[[nodiscard]] Result<Message> decode(const Frame& frame, const WireLimits& limits = {});

// "experience", ...: for logs and metrics.
[[nodiscard]] std::string_view type_name(const Message& message);

}  // namespace pacml::wire

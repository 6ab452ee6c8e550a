#pragma once

#include <optional>
#include <span>

#include "common/bytes.h"
#include "common/experience/transitions.h"
#include "common/result.h"
#include "common/wire/sequence_tracker.h"
#include "replay/graph_store.h"

namespace pacml::replay {

// What a shard needs besides its table to go on: which graphs the rows mean, how wide they are, and
// what has been accepted, so that nothing is inserted twice. Value type.
struct ServerState {
  std::optional<ObservationShape> shape;  // none: nothing was inserted yet
  GraphStore graphs;
  wire::SequenceTracker::State accepted;
};

[[nodiscard]] Bytes encode_server_state(const ServerState& state);

// Any bytes are safe. kCorruptFrame: encode_server_state did not write them. Pure.
[[nodiscard]] Result<ServerState> decode_server_state(std::span<const std::byte> bytes);

}  // namespace pacml::replay

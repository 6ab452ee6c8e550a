#include "replay/server_state.h"

#include <utility>
#include <variant>

#include "common/raw_bytes.h"
#include "common/wire/codec.h"

namespace pacml::replay {
namespace {

tl::unexpected<Error> corrupt() {
  return fail(Errc::kCorruptFrame, "what the shard knew besides its items is damaged");
}

void put_shape(Bytes& out, const std::optional<ObservationShape>& shape) {
  append_value(out, std::uint8_t{shape.has_value()});
  if (!shape) return;
  append_value(out, static_cast<std::uint32_t>(shape->slots.size()));
  for (const auto& slot : shape->slots) {
    append_value(out, slot.dynamic_width);
    append_value(out, std::uint8_t{slot.focus});
  }
  append_value(out, shape->globals);
  append_value(out, shape->candidates);
  append_value(out, std::uint8_t{shape->candidates_vary});
  append_value(out, shape->candidate_width);
  append_value(out, std::uint8_t{shape->candidates_name_nodes});
  append_value(out, shape->agents);
}

bool get_shape(RawReader& in, std::optional<ObservationShape>& shape) {
  if (in.take<std::uint8_t>() == 0) return in.ok();
  shape.emplace();
  for (auto left = in.take<std::uint32_t>(); left > 0 && in.ok(); --left) {
    auto& slot = shape->slots.emplace_back();
    slot.dynamic_width = in.take<std::uint32_t>();
    slot.focus = in.take<std::uint8_t>() != 0;
  }
  shape->globals = in.take<std::uint32_t>();
  shape->candidates = in.take<std::uint32_t>();
  shape->candidates_vary = in.take<std::uint8_t>() != 0;
  shape->candidate_width = in.take<std::uint32_t>();
  shape->candidates_name_nodes = in.take<std::uint8_t>() != 0;
  shape->agents = in.take<std::uint32_t>();
  return in.ok() && !beyond(*shape);
}

// A graph as it crosses the wire, each part behind its length.
void put_graph(Bytes& out, const wire::Graph& graph) {
  const wire::Frame frame = wire::encode(graph);
  append_value(out, static_cast<std::uint32_t>(frame.parts.size()));
  for (const Bytes& part : frame.parts) append_sized<std::uint64_t>(out, part);
}

bool get_graph(RawReader& in, GraphStore& graphs) {
  wire::Frame frame;
  for (auto left = in.take<std::uint32_t>(); left > 0 && in.ok(); --left) {
    const auto part = in.take_sized<std::uint64_t>();
    frame.parts.emplace_back(part.begin(), part.end());
  }
  auto message = wire::decode(frame);
  if (!in.ok() || !message) return false;
  auto* const graph = std::get_if<wire::Graph>(&*message);
  return graph != nullptr && graphs.add(std::move(*graph));
}

}  // namespace

Bytes encode_server_state(const ServerState& state) {
  Bytes out;
  put_shape(out, state.shape);
  append_value(out, static_cast<std::uint32_t>(state.graphs.graphs().size()));
  for (const wire::Graph& graph : state.graphs.graphs()) put_graph(out, graph);
  const auto& accepted = state.accepted;
  for (const std::uint64_t count :
       {accepted.accepted, accepted.duplicates, accepted.stale, accepted.gaps}) {
    append_value(out, count);
  }
  append_value(out, static_cast<std::uint32_t>(accepted.entries.size()));
  for (const auto& entry : accepted.entries) {
    append_value(out, entry.actor.get());
    append_value(out, entry.incarnation.get());
    append_value(out, entry.last.get());
  }
  return out;
}

Result<ServerState> decode_server_state(std::span<const std::byte> bytes) {
  RawReader in(bytes);
  ServerState state;
  if (!get_shape(in, state.shape)) return corrupt();
  for (auto left = in.take<std::uint32_t>(); left > 0; --left) {
    if (!get_graph(in, state.graphs)) return corrupt();
  }
  auto& accepted = state.accepted;
  for (std::uint64_t* count :
       {&accepted.accepted, &accepted.duplicates, &accepted.stale, &accepted.gaps}) {
    *count = in.take<std::uint64_t>();
  }
  for (auto left = in.take<std::uint32_t>(); left > 0 && in.ok(); --left) {
    const ActorId actor{in.take<std::uint32_t>()};
    const Incarnation incarnation{in.take<std::uint64_t>()};
    accepted.entries.push_back({actor, incarnation, Sequence{in.take<std::uint64_t>()}});
  }
  if (!in.ok() || !in.rest().empty()) return corrupt();
  return state;
}

}  // namespace pacml::replay

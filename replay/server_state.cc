#include "replay/server_state.h"

#include <cstring>
#include <utility>
#include <variant>

#include "common/wire/codec.h"

namespace pacml::replay {
namespace {

template <class T>
requires std::is_trivially_copyable_v<T>
void put(Bytes& out, T value) {
  const std::size_t begin = out.size();
  out.resize(begin + sizeof(value));
  std::memcpy(out.data() + begin, &value, sizeof(value));
}

// Takes values off the front; after the first that is missing, ok() is false and all are zero.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T get() {
    T value{};
    const auto bytes = take(sizeof(T));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  [[nodiscard]] std::span<const std::byte> take(std::size_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool complete() const { return ok_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

tl::unexpected<Error> corrupt() {
  return fail(Errc::kCorruptFrame, "what the shard knew besides its items is damaged");
}

void put_shape(Bytes& out, const std::optional<ObservationShape>& shape) {
  put(out, std::uint8_t{shape.has_value()});
  if (!shape) return;
  put(out, static_cast<std::uint32_t>(shape->slots.size()));
  for (const auto& slot : shape->slots) {
    put(out, slot.dynamic_width);
    put(out, std::uint8_t{slot.focus});
  }
  put(out, shape->globals);
  put(out, shape->candidates);
  put(out, std::uint8_t{shape->candidates_vary});
  put(out, shape->candidate_width);
  put(out, std::uint8_t{shape->candidates_name_nodes});
  put(out, shape->agents);
}

bool get_shape(Reader& in, std::optional<ObservationShape>& shape) {
  if (in.get<std::uint8_t>() == 0) return in.ok();
  shape.emplace();
  for (auto left = in.get<std::uint32_t>(); left > 0 && in.ok(); --left) {
    auto& slot = shape->slots.emplace_back();
    slot.dynamic_width = in.get<std::uint32_t>();
    slot.focus = in.get<std::uint8_t>() != 0;
  }
  shape->globals = in.get<std::uint32_t>();
  shape->candidates = in.get<std::uint32_t>();
  shape->candidates_vary = in.get<std::uint8_t>() != 0;
  shape->candidate_width = in.get<std::uint32_t>();
  shape->candidates_name_nodes = in.get<std::uint8_t>() != 0;
  shape->agents = in.get<std::uint32_t>();
  return in.ok() && !beyond(*shape);
}

// A graph as it crosses the wire, each part behind its length.
void put_graph(Bytes& out, const wire::Graph& graph) {
  const wire::Frame frame = wire::encode(graph);
  put(out, static_cast<std::uint32_t>(frame.parts.size()));
  for (const Bytes& part : frame.parts) {
    put(out, static_cast<std::uint64_t>(part.size()));
    out.insert(out.end(), part.begin(), part.end());
  }
}

bool get_graph(Reader& in, GraphStore& graphs) {
  wire::Frame frame;
  for (auto left = in.get<std::uint32_t>(); left > 0 && in.ok(); --left) {
    const auto part = in.take(in.get<std::uint64_t>());
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
  put(out, static_cast<std::uint32_t>(state.graphs.graphs().size()));
  for (const wire::Graph& graph : state.graphs.graphs()) put_graph(out, graph);
  const auto& accepted = state.accepted;
  for (const std::uint64_t count :
       {accepted.accepted, accepted.duplicates, accepted.stale, accepted.gaps}) {
    put(out, count);
  }
  put(out, static_cast<std::uint32_t>(accepted.entries.size()));
  for (const auto& entry : accepted.entries) {
    put(out, entry.actor.get());
    put(out, entry.incarnation.get());
    put(out, entry.last.get());
  }
  return out;
}

Result<ServerState> decode_server_state(std::span<const std::byte> bytes) {
  Reader in(bytes);
  ServerState state;
  if (!get_shape(in, state.shape)) return corrupt();
  for (auto left = in.get<std::uint32_t>(); left > 0; --left) {
    if (!get_graph(in, state.graphs)) return corrupt();
  }
  auto& accepted = state.accepted;
  for (std::uint64_t* count :
       {&accepted.accepted, &accepted.duplicates, &accepted.stale, &accepted.gaps}) {
    *count = in.get<std::uint64_t>();
  }
  for (auto left = in.get<std::uint32_t>(); left > 0 && in.ok(); --left) {
    const ActorId actor{in.get<std::uint32_t>()};
    const Incarnation incarnation{in.get<std::uint64_t>()};
    accepted.entries.push_back({actor, incarnation, Sequence{in.get<std::uint64_t>()}});
  }
  if (!in.complete()) return corrupt();
  return state;
}

}  // namespace pacml::replay

#include "common/wire/codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <msgpack.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "common/check.h"
#include "common/finite.h"
#include "common/hash.h"

namespace pacml::wire {
namespace {

// ---- Type numbers ----

template <class M, std::size_t I = 0>
constexpr std::size_t index_of() {
  if constexpr (std::same_as<M, std::variant_alternative_t<I, Message>>) {
    return I;
  } else {
    return index_of<M, I + 1>();
  }
}

constexpr std::array<std::string_view, std::variant_size_v<Message>> kTypeNames = {
    "hello",
    "welcome",
    "refused",
    "experience",
    "credit",
    "get weights",
    "weights",
    "weights announcement",
    "need graph",
    "graph",
    "ping",
    "pong",
    "goodbye",
    "insert",
    "sample",
    "samples",
    "priority updates",
    "get status",
    "status"};

// ---- Writing and reading envelopes ----

// One MessagePack array of the given fields, behind the fixed header.
class EnvelopeWriter {
 public:
  EnvelopeWriter(std::size_t type, std::uint32_t fields) : packer_(buffer_) {
    const std::uint16_t version = kProtocolVersion;
    const auto type_on_wire = static_cast<std::uint16_t>(type + 1);
    std::array<char, kHeaderBytes> header{};
    std::memcpy(header.data(), &kMagic, 4);
    std::memcpy(header.data() + 4, &version, 2);
    std::memcpy(header.data() + 6, &type_on_wire, 2);
    buffer_.write(header.data(), header.size());
    packer_.pack_array(fields);
  }
  EnvelopeWriter& number(std::uint64_t value) {
    packer_.pack_uint64(value);
    return *this;
  }
  EnvelopeWriter& text(std::string_view value, std::size_t max) {
    value = value.substr(0, max);
    packer_.pack_str(static_cast<std::uint32_t>(value.size()));
    packer_.pack_str_body(value.data(), static_cast<std::uint32_t>(value.size()));
    return *this;
  }
  [[nodiscard]] Frame frame() const {
    const auto bytes = std::as_bytes(std::span(buffer_.data(), buffer_.size()));
    Frame frame;
    frame.parts.emplace_back(bytes.begin(), bytes.end());
    return frame;
  }

 private:
  msgpack::sbuffer buffer_;
  msgpack::packer<msgpack::sbuffer> packer_;
};

// The fields in turn. After the first that is missing or of another type, ok() is false and all
// further ones are zero, so that callers check once.
class EnvelopeReader {
 public:
  explicit EnvelopeReader(const msgpack::object_array& array) : fields_(array.ptr, array.size) {}

  [[nodiscard]] std::uint64_t number(
      std::uint64_t max = std::numeric_limits<std::uint64_t>::max()) {
    const msgpack::object* field = next(msgpack::type::POSITIVE_INTEGER);
    if (field == nullptr) return 0;
    if (field->via.u64 > max) {
      ok_ = false;
      return 0;
    }
    return field->via.u64;
  }
  [[nodiscard]] std::uint32_t number32() {
    return static_cast<std::uint32_t>(number(std::numeric_limits<std::uint32_t>::max()));
  }
  [[nodiscard]] std::string text(std::size_t max) {
    const msgpack::object* field = next(msgpack::type::STR);
    if (field == nullptr) return {};
    if (field->via.str.size > max) {
      ok_ = false;
      return {};
    }
    return {field->via.str.ptr, field->via.str.size};
  }
  // Every field was as asked for, and none is left.
  [[nodiscard]] bool complete() const { return ok_ && used_ == fields_.size(); }

 private:
  const msgpack::object* next(msgpack::type::object_type type) {
    if (!ok_ || used_ == fields_.size() || fields_[used_].type != type) {
      ok_ = false;
      return nullptr;
    }
    return &fields_[used_++];
  }

  std::span<const msgpack::object> fields_;
  std::size_t used_ = 0;
  bool ok_ = true;
};

// The enumerator of that number, if there is one.
template <NamedEnum Enum>
std::optional<Enum> parse_enum(std::uint64_t number) {
  for (const auto& entry : enum_names(Enum{1})) {
    if (static_cast<std::uint64_t>(entry.value) == number) return entry.value;
  }
  return std::nullopt;
}

// ---- Payload ----

// Calls f(column) for every column of the payload, in the order of the wire.
template <class S, class F>
void for_each_column(S& sequences, F&& f) {
  sequences.observations.visit_columns(f);
  f(sequences.versions);
  f(sequences.episodes);
  f(sequences.lengths);
  f(sequences.first_step);
  f(sequences.behaviour_log_prob);
  f(sequences.reward);
  f(sequences.elapsed);
  f(sequences.action_values);
  f(sequences.action);
  f(sequences.flags);
}

template <class G, class F>
void for_each_graph_column(G& graph, F&& f) {
  f(graph.node_features);
  f(graph.edge_features);
  f(graph.edge_src);
  f(graph.edge_dst);
}

template <class M, class F>
void for_each_insert_column(M& batch, F&& f) {
  batch.transitions.observations.visit_columns(f);
  f(batch.transitions.heads);
  f(batch.episodes);
  f(batch.priorities);
}

template <class M, class F>
void for_each_samples_column(M& samples, F&& f) {
  samples.transitions.observations.visit_columns(f);
  f(samples.transitions.heads);
  f(samples.keys);
  f(samples.probabilities);
  f(samples.episodes);
}

static_assert(sizeof(GraphHash) == 8 && sizeof(VersionRun) == 16 && sizeof(EpisodeRecord) == 144);

class PayloadWriter {
 public:
  template <class T>
  void operator()(std::span<const T> column) {
    const auto bytes = std::as_bytes(column);
    payload_.insert(payload_.end(), bytes.begin(), bytes.end());
  }
  template <class T>
  void operator()(const std::vector<T>& column) {
    (*this)(std::span(column));
  }
  void reserve(std::size_t bytes) { payload_.reserve(bytes); }
  [[nodiscard]] Bytes take() { return std::move(payload_); }

 private:
  Bytes payload_;
};

// Fills columns of known size; the caller has compared the sum with the payload. Copies, because a
// received part may start at any address.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const std::byte> payload) : left_(payload) {}
  template <class T>
  void operator()(std::vector<T>& column) {
    (*this)(std::span(column));
  }
  template <class T>
  void operator()(std::span<T> column) {
    const std::size_t size = column.size_bytes();
    PACML_CHECK(size <= left_.size(), "the payload's length was checked before");
    if (size > 0) std::memcpy(column.data(), left_.data(), size);
    left_ = left_.subspan(size);
  }

 private:
  std::span<const std::byte> left_;
};

std::uint64_t hash_of(const std::vector<float>& values) {
  return content_hash(std::span<const float>(values));
}

tl::unexpected<Error> corrupt(std::string what) {
  return fail(Errc::kCorruptFrame, std::move(what));
}
tl::unexpected<Error> over_limit(std::string what) {
  return fail(Errc::kOverLimit, std::move(what));
}

// ---- One pair of functions per message ----

constexpr WireLimits kDefaults{};

Frame write(const Hello& m) {
  return EnvelopeWriter(index_of<Hello>(), 10)
      .number(static_cast<std::uint64_t>(m.role))
      .number(m.actor.get())
      .number(m.incarnation.get())
      .number(m.config_hash)
      .text(m.config_text, kDefaults.max_config_text)
      .text(m.run_id, kDefaults.max_text)
      .text(m.host, kDefaults.max_text)
      .number(m.pid)
      .number(m.unroll_length)
      .number(m.most_unrolls)
      .frame();
}

// What a message is read from.
struct Source {
  EnvelopeReader envelope;
  std::span<const Bytes> payload;  // parts after the envelope
  const WireLimits& limits;
};

tl::unexpected<Error> bad_envelope() {
  return corrupt("the envelope's fields are not those of its message type");
}

Result<void> expect_end(const Source& in) {
  if (!in.envelope.complete()) return bad_envelope();
  if (!in.payload.empty()) return corrupt("a payload where there should be none");
  return {};
}

// For a message whose fields are the whole of it.
template <class M>
Result<Message> finished(const Source& in, M message) {
  if (auto ok = expect_end(in); !ok) return tl::unexpected(ok.error());
  return Message{std::move(message)};
}

// `sizes` are element counts times element sizes, each far below 2^60.
Result<std::span<const std::byte>> expect_payload(const Source& in, std::uint64_t size) {
  if (!in.envelope.complete()) return bad_envelope();
  if (in.payload.size() != 1) return corrupt("one payload part was expected");
  if (in.payload[0].size() != size) {
    return corrupt("the payload has " + std::to_string(in.payload[0].size()) +
                   " bytes, its shape says " + std::to_string(size));
  }
  return std::span<const std::byte>(in.payload[0]);
}

Result<Message> read(std::type_identity<Hello>, Source in) {
  Hello m;
  const auto role = parse_enum<Role>(in.envelope.number());
  m.actor = ActorId{in.envelope.number32()};
  m.incarnation = Incarnation{in.envelope.number()};
  m.config_hash = in.envelope.number();
  m.config_text = in.envelope.text(in.limits.max_config_text);
  m.run_id = in.envelope.text(in.limits.max_text);
  m.host = in.envelope.text(in.limits.max_text);
  m.pid = in.envelope.number32();
  m.unroll_length = in.envelope.number32();
  m.most_unrolls = in.envelope.number32();
  if (!in.envelope.complete()) return bad_envelope();
  if (m.unroll_length == 0 || m.most_unrolls == 0) return corrupt("an actor that can do nothing");
  const SequenceLimits& most = in.limits.sequences;
  if (m.unroll_length > most.max_length ||
      std::uint64_t{m.unroll_length} * m.most_unrolls > most.max_decisions) {
    return over_limit("an actor whose messages would be larger than any may be");
  }
  if (!role) return corrupt("an unknown role");
  m.role = *role;
  return finished(in, std::move(m));
}

Frame write(const Welcome& m) {
  return EnvelopeWriter(index_of<Welcome>(), 7)
      .text(m.run_id, kDefaults.max_text)
      .number(m.run_seed.get())
      .number(m.credits)
      .number(m.policy_version.get())
      .number(m.max_policy_lag)
      .number(m.unrolls)
      .number(m.incarnation.get())
      .frame();
}

Result<Message> read(std::type_identity<Welcome>, Source in) {
  Welcome m;
  m.run_id = in.envelope.text(in.limits.max_text);
  m.run_seed = Seed{in.envelope.number()};
  m.credits = in.envelope.number();
  m.policy_version = PolicyVersion{in.envelope.number()};
  m.max_policy_lag = in.envelope.number();
  m.unrolls = in.envelope.number32();
  m.incarnation = Incarnation{in.envelope.number()};
  if (!in.envelope.complete()) return bad_envelope();
  if (m.unrolls == 0) return corrupt("a grant of nothing");
  return finished(in, std::move(m));
}

Frame write(const Refused& m) {
  return EnvelopeWriter(index_of<Refused>(), 3)
      .number(static_cast<std::uint64_t>(m.why))
      .text(m.reason, kDefaults.max_text)
      .number(m.newest.get())
      .frame();
}

Result<Message> read(std::type_identity<Refused>, Source in) {
  Refused m;
  const auto why = parse_enum<Refusal>(in.envelope.number());
  m.reason = in.envelope.text(in.limits.max_text);
  m.newest = Incarnation{in.envelope.number()};
  if (!in.envelope.complete()) return bad_envelope();
  if (!why) return corrupt("an unknown refusal");
  m.why = *why;
  return finished(in, std::move(m));
}

// The envelope's part of observations: their shape, then the lengths of their columns.
struct ObservationHead {
  ObservationShape shape;
  ObservationCounts counts;

  [[nodiscard]] static ObservationHead of(const Observations& observations) {
    return {observations.shape(), observations.counts()};
  }
  [[nodiscard]] std::uint32_t fields() const {
    return 11 + 2 * static_cast<std::uint32_t>(shape.slots.size());
  }
  void write(EnvelopeWriter& envelope) const {
    envelope.number(shape.slots.size());
    for (const auto& slot : shape.slots) {
      envelope.number(slot.dynamic_width).number(slot.focus ? 1 : 0);
    }
    envelope.number(shape.globals)
        .number(shape.candidates)
        .number(shape.candidates_vary ? 1 : 0)
        .number(shape.candidate_width)
        .number(shape.candidates_name_nodes ? 1 : 0)
        .number(shape.agents)
        .number(counts.rows)
        .number(counts.graphs)
        .number(counts.node_values)
        .number(counts.candidates);
  }
  // What is beyond the limits is not read on: check() says so.
  static ObservationHead read(EnvelopeReader& envelope, const ObservationLimits& limits) {
    ObservationHead head;
    for (auto left = envelope.number(limits.max_slots); left > 0; --left) {
      auto& slot = head.shape.slots.emplace_back();
      slot.dynamic_width = envelope.number32();
      slot.focus = envelope.number(1) == 1;
    }
    head.shape.globals = envelope.number32();
    head.shape.candidates = envelope.number32();
    head.shape.candidates_vary = envelope.number(1) == 1;
    head.shape.candidate_width = envelope.number32();
    head.shape.candidates_name_nodes = envelope.number(1) == 1;
    head.shape.agents = envelope.number32();
    head.counts.rows = envelope.number32();
    head.counts.graphs = envelope.number32();
    head.counts.node_values = envelope.number32();
    head.counts.candidates = envelope.number32();
    return head;
  }
  // To be asked before memory is.
  [[nodiscard]] Result<void> check(const ObservationLimits& limits) const {
    if (auto problem = beyond(shape, limits)) return over_limit("observations: " + *problem);
    if (counts.rows > limits.max_rows || counts.graphs > limits.max_graphs ||
        counts.node_values > limits.max_values || counts.candidates > limits.max_values) {
      return over_limit("observations: larger than the limits allow");
    }
    return {};
  }
  [[nodiscard]] std::uint64_t payload_size() const { return column_bytes(shape, counts); }
};

Frame write(const Experience& m) {
  const Sequences& s = m.sequences;
  const auto valid = validate(s);
  PACML_CHECK(valid.has_value(), valid.error().detail);
  const auto head = ObservationHead::of(s.observations);
  EnvelopeWriter envelope(index_of<Experience>(), 9 + head.fields());
  envelope.number(m.actor.get())
      .number(m.incarnation.get())
      .number(m.sequence.get())
      .number(s.size())
      .number(s.num_decisions())
      .number(s.versions.size())
      .number(s.episodes.size())
      .number(s.elapsed.empty() ? 0 : 1)
      .number(s.action_values.size());
  head.write(envelope);
  Frame frame = envelope.frame();
  std::size_t size = 0;
  for_each_column(s, [&](const auto& column) { size += std::span(column).size_bytes(); });
  PayloadWriter payload;
  payload.reserve(size);
  for_each_column(s, payload);
  frame.parts.push_back(payload.take());
  return frame;
}

// Bytes of an experience payload besides its observations; exact, since every factor is below 2^32.
std::uint64_t payload_size(const SequenceCounts& counts) {
  return sizeof(VersionRun) * counts.version_runs + sizeof(EpisodeRecord) * counts.episodes +
         (4 + 4) * counts.sequences +
         (2 + 4 + 4 + (counts.elapsed ? 4 : 0) + 1) * counts.decisions + 4 * counts.action_values;
}

Result<Message> read(std::type_identity<Experience>, Source in) {
  const SequenceLimits& limits = in.limits.sequences;
  Experience m;
  m.actor = ActorId{in.envelope.number32()};
  m.incarnation = Incarnation{in.envelope.number()};
  m.sequence = Sequence{in.envelope.number()};
  SequenceCounts counts;
  counts.sequences = in.envelope.number32();
  counts.decisions = in.envelope.number32();
  counts.version_runs = in.envelope.number32();
  counts.episodes = in.envelope.number32();
  counts.elapsed = in.envelope.number(1) == 1;
  counts.action_values = in.envelope.number32();
  auto head = ObservationHead::read(in.envelope, limits.observations);
  if (!in.envelope.complete()) return bad_envelope();
  if (m.sequence == Sequence{0}) return corrupt("sequence numbers start at 1");
  // All this before anything is allocated.
  if (counts.decisions > limits.max_decisions || counts.episodes > limits.max_episodes) {
    return over_limit("sequences: larger than the limits allow");
  }
  if (counts.sequences > counts.decisions || counts.version_runs > counts.decisions) {
    return corrupt("more sequences or versions than decisions");
  }
  if (auto ok = head.check(limits.observations); !ok) return tl::unexpected(ok.error());
  const auto payload = expect_payload(in, head.payload_size() + payload_size(counts));
  if (!payload) return tl::unexpected(payload.error());
  Sequences& s = m.sequences;
  s.observations = Observations(std::move(head.shape), head.counts);
  resize_columns(s, counts);
  for_each_column(s, PayloadReader(*payload));
  if (auto ok = validate(s, limits); !ok) return tl::unexpected(ok.error());
  return Message{std::move(m)};
}

Frame write(const Credit& m) {
  return EnvelopeWriter(index_of<Credit>(), 3)
      .number(m.granted)
      .number(m.last_accepted.get())
      .number(m.unrolls)
      .frame();
}

Result<Message> read(std::type_identity<Credit>, Source in) {
  Credit m;
  m.granted = in.envelope.number();
  m.last_accepted = Sequence{in.envelope.number()};
  m.unrolls = in.envelope.number32();
  if (!in.envelope.complete()) return bad_envelope();
  if (m.unrolls == 0) return corrupt("a grant of nothing");
  return finished(in, m);
}

Frame write(const GetWeights& m) {
  return EnvelopeWriter(index_of<GetWeights>(), 1).number(m.have.get()).frame();
}

Result<Message> read(std::type_identity<GetWeights>, Source in) {
  return finished(in, GetWeights{PolicyVersion{in.envelope.number()}});
}

Frame write(const Weights& m) {
  PACML_CHECK(m.values.size() <= kDefaults.max_parameters, "more weights than a peer would take");
  Frame frame = EnvelopeWriter(index_of<Weights>(), 4)
                    .number(m.version.get())
                    .number(m.layout_hash)
                    .number(hash_of(m.values))
                    .number(m.values.size())
                    .frame();
  PayloadWriter payload;
  payload(m.values);
  frame.parts.push_back(payload.take());
  return frame;
}

Result<Message> read(std::type_identity<Weights>, Source in) {
  Weights m;
  m.version = PolicyVersion{in.envelope.number()};
  m.layout_hash = in.envelope.number();
  const std::uint64_t hash = in.envelope.number();
  const std::uint64_t count = in.envelope.number();
  if (!in.envelope.complete()) return bad_envelope();
  if (count > in.limits.max_parameters) return over_limit("more weights than the limit");
  const auto payload = expect_payload(in, count * sizeof(float));
  if (!payload) return tl::unexpected(payload.error());
  m.values.resize(static_cast<std::size_t>(count));
  PayloadReader{*payload}(m.values);
  if (hash_of(m.values) != hash) return corrupt("the weights do not match their hash");
  if (!all_finite(m.values)) return corrupt("a weight is not finite");
  return Message{std::move(m)};
}

Frame write(const WeightsAnnouncement& m) {
  return EnvelopeWriter(index_of<WeightsAnnouncement>(), 2)
      .number(m.version.get())
      .number(m.content_hash)
      .frame();
}

Result<Message> read(std::type_identity<WeightsAnnouncement>, Source in) {
  WeightsAnnouncement m;
  m.version = PolicyVersion{in.envelope.number()};
  m.content_hash = in.envelope.number();
  return finished(in, m);
}

Frame write(const NeedGraph& m) {
  return EnvelopeWriter(index_of<NeedGraph>(), 1).number(m.hash.get()).frame();
}

Result<Message> read(std::type_identity<NeedGraph>, Source in) {
  return finished(in, NeedGraph{GraphHash{in.envelope.number()}});
}

// Bytes of a graph's payload; exact within the limits.
std::uint64_t payload_size(const Graph& m) {
  return 4 * (std::uint64_t{m.num_nodes} * m.node_width +
              std::uint64_t{m.num_edges} * m.edge_width + 2 * std::uint64_t{m.num_edges});
}

bool within(const Graph& m, const WireLimits& limits) {
  return m.num_nodes <= limits.max_nodes && m.num_edges <= limits.max_edges &&
         m.node_width <= limits.max_feature_width && m.edge_width <= limits.max_feature_width;
}

Result<void> check(const Graph& m) {
  if (!all_finite(m.node_features) || !all_finite(m.edge_features)) {
    return corrupt("a graph's feature is not finite");
  }
  const auto is_node = [&](std::int32_t v) {
    return v >= 0 && static_cast<std::uint32_t>(v) < m.num_nodes;
  };
  if (!std::all_of(m.edge_src.begin(), m.edge_src.end(), is_node) ||
      !std::all_of(m.edge_dst.begin(), m.edge_dst.end(), is_node)) {
    return corrupt("an edge's end is not a node");
  }
  return {};
}

Frame write(const Graph& m) {
  Frame frame = EnvelopeWriter(index_of<Graph>(), 5)
                    .number(m.hash.get())
                    .number(m.num_nodes)
                    .number(m.num_edges)
                    .number(m.node_width)
                    .number(m.edge_width)
                    .frame();
  PayloadWriter payload;
  for_each_graph_column(m, payload);
  frame.parts.push_back(payload.take());
  PACML_CHECK(within(m, kDefaults), "a graph larger than a peer would take");
  PACML_CHECK(frame.parts.back().size() == payload_size(m) && check(m), "a graph must be valid");
  return frame;
}

Result<Message> read(std::type_identity<Graph>, Source in) {
  Graph m;
  m.hash = GraphHash{in.envelope.number()};
  m.num_nodes = in.envelope.number32();
  m.num_edges = in.envelope.number32();
  m.node_width = in.envelope.number32();
  m.edge_width = in.envelope.number32();
  if (!in.envelope.complete()) return bad_envelope();
  if (!within(m, in.limits)) return over_limit("a graph larger than the limits");
  const auto payload = expect_payload(in, payload_size(m));
  if (!payload) return tl::unexpected(payload.error());
  m.node_features.resize(std::size_t{m.num_nodes} * m.node_width);
  m.edge_features.resize(std::size_t{m.num_edges} * m.edge_width);
  m.edge_src.resize(m.num_edges);
  m.edge_dst.resize(m.num_edges);
  for_each_graph_column(m, PayloadReader(*payload));
  if (auto ok = check(m); !ok) return tl::unexpected(ok.error());
  return Message{std::move(m)};
}

Frame write(const Ping& m) { return EnvelopeWriter(index_of<Ping>(), 1).number(m.nonce).frame(); }

Result<Message> read(std::type_identity<Ping>, Source in) {
  return finished(in, Ping{in.envelope.number()});
}

Frame write(const Pong& m) { return EnvelopeWriter(index_of<Pong>(), 1).number(m.nonce).frame(); }

Result<Message> read(std::type_identity<Pong>, Source in) {
  return finished(in, Pong{in.envelope.number()});
}

Frame write(const Goodbye& m) {
  return EnvelopeWriter(index_of<Goodbye>(), 1).text(m.reason, kDefaults.max_text).frame();
}

Result<Message> read(std::type_identity<Goodbye>, Source in) {
  return finished(in, Goodbye{in.envelope.text(in.limits.max_text)});
}

// The envelope's part of transitions: widths and counts, believed within the limits. Called before
// anything is allocated.
struct TransitionCounts {
  std::uint32_t transitions = 0;
  std::uint32_t episodes = 0;
  ObservationHead observations;

  [[nodiscard]] std::uint32_t fields() const { return 2 + observations.fields(); }
  void write(EnvelopeWriter& envelope) const {
    envelope.number(transitions).number(episodes);
    observations.write(envelope);
  }
  static TransitionCounts of(const Transitions& transitions,
                             const std::vector<EpisodeRecord>& episodes) {
    return {static_cast<std::uint32_t>(transitions.size()),
            static_cast<std::uint32_t>(episodes.size()),
            ObservationHead::of(transitions.observations)};
  }
  static TransitionCounts read(EnvelopeReader& envelope, const TransitionLimits& limits) {
    TransitionCounts counts;
    counts.transitions = envelope.number32();
    counts.episodes = envelope.number32();
    counts.observations = ObservationHead::read(envelope, limits.observations);
    return counts;
  }
  [[nodiscard]] Result<void> check(const TransitionLimits& limits) const {
    if (transitions > limits.max_transitions || episodes > limits.max_episodes) {
      return over_limit("transitions: larger than the limits allow");
    }
    return observations.check(limits.observations);
  }
  // Bytes, with `each` more for each transition than itself.
  [[nodiscard]] std::uint64_t payload_size(std::uint64_t each) const {
    return observations.payload_size() + sizeof(EpisodeRecord) * std::uint64_t{episodes} +
           transitions * (sizeof(TransitionHead) + each);
  }
  void resize(Transitions& of_transitions, std::vector<EpisodeRecord>& of_episodes) const {
    of_transitions.heads.resize(transitions);
    of_transitions.observations = Observations(observations.shape, observations.counts);
    of_episodes.resize(episodes);
  }
};

Result<void> check(const Transitions& transitions, const std::vector<EpisodeRecord>& episodes,
                   const TransitionLimits& limits) {
  if (auto ok = validate(transitions, limits); !ok) return ok;
  return validate(episodes);
}

Frame write(const Insert& m) {
  const PrioritizedTransitions& batch = m.batch;
  PACML_CHECK(check(batch.transitions, batch.episodes, kDefaults.transitions) &&
                  batch.priorities.size() == batch.transitions.size(),
              "transitions must be valid before they are sent");
  const auto counts = TransitionCounts::of(batch.transitions, batch.episodes);
  EnvelopeWriter envelope(index_of<Insert>(), 3 + counts.fields());
  envelope.number(m.actor.get()).number(m.incarnation.get()).number(m.sequence.get());
  counts.write(envelope);
  Frame frame = envelope.frame();
  PayloadWriter payload;
  payload.reserve(counts.payload_size(sizeof(float)));
  for_each_insert_column(batch, payload);
  frame.parts.push_back(payload.take());
  return frame;
}

Result<Message> read(std::type_identity<Insert>, Source in) {
  Insert m;
  m.actor = ActorId{in.envelope.number32()};
  m.incarnation = Incarnation{in.envelope.number()};
  m.sequence = Sequence{in.envelope.number()};
  const auto counts = TransitionCounts::read(in.envelope, in.limits.transitions);
  if (!in.envelope.complete()) return bad_envelope();
  if (m.sequence == Sequence{0}) return corrupt("sequence numbers start at 1");
  if (auto ok = counts.check(in.limits.transitions); !ok) return tl::unexpected(ok.error());
  const auto payload = expect_payload(in, counts.payload_size(sizeof(float)));
  if (!payload) return tl::unexpected(payload.error());
  PrioritizedTransitions& batch = m.batch;
  counts.resize(batch.transitions, batch.episodes);
  batch.priorities.resize(counts.transitions);
  for_each_insert_column(batch, PayloadReader(*payload));
  if (auto ok = check(batch.transitions, batch.episodes, in.limits.transitions); !ok) {
    return tl::unexpected(ok.error());
  }
  return Message{std::move(m)};
}

Frame write(const Sample& m) {
  return EnvelopeWriter(index_of<Sample>(), 2).number(m.request).number(m.count).frame();
}

Result<Message> read(std::type_identity<Sample>, Source in) {
  Sample m;
  m.request = in.envelope.number();
  m.count = in.envelope.number32();
  if (!in.envelope.complete()) return bad_envelope();
  if (m.count == 0) return corrupt("at least one item is drawn");
  if (m.count > in.limits.transitions.max_transitions) {
    return over_limit("more items than a message holds");
  }
  return finished(in, m);
}

bool are_probabilities(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double p) { return p > 0 && p <= 1; });
}

Frame write(const Samples& m) {
  PACML_CHECK(check(m.transitions, m.episodes, kDefaults.transitions) &&
                  m.keys.size() == m.transitions.size() &&
                  m.probabilities.size() == m.transitions.size() &&
                  are_probabilities(m.probabilities),
              "samples must be valid before they are sent");
  const auto counts = TransitionCounts::of(m.transitions, m.episodes);
  EnvelopeWriter envelope(index_of<Samples>(), 4 + counts.fields());
  envelope.number(m.request);
  counts.write(envelope);
  envelope.number(m.shard.size)
      .number(std::bit_cast<std::uint64_t>(m.shard.total_priority))
      .number(m.shard.inserted);
  Frame frame = envelope.frame();
  PayloadWriter payload;
  payload.reserve(counts.payload_size(sizeof(std::uint64_t) + sizeof(double)));
  for_each_samples_column(m, payload);
  frame.parts.push_back(payload.take());
  return frame;
}

Result<Message> read(std::type_identity<Samples>, Source in) {
  Samples m;
  m.request = in.envelope.number();
  const auto counts = TransitionCounts::read(in.envelope, in.limits.transitions);
  m.shard.size = in.envelope.number();
  m.shard.total_priority = std::bit_cast<double>(in.envelope.number());
  m.shard.inserted = in.envelope.number();
  if (!in.envelope.complete()) return bad_envelope();
  // Far above what a table can hold, and far below what a sum of shards would overflow at.
  constexpr double kMostPriority = 1e300;
  if (!(m.shard.total_priority >= 0 && m.shard.total_priority <= kMostPriority)) {
    return corrupt("a shard's total is not a number in 0..1e300");
  }
  if (auto ok = counts.check(in.limits.transitions); !ok) return tl::unexpected(ok.error());
  const auto payload =
      expect_payload(in, counts.payload_size(sizeof(std::uint64_t) + sizeof(double)));
  if (!payload) return tl::unexpected(payload.error());
  counts.resize(m.transitions, m.episodes);
  m.keys.resize(counts.transitions);
  m.probabilities.resize(counts.transitions);
  for_each_samples_column(m, PayloadReader(*payload));
  if (!are_probabilities(m.probabilities)) return corrupt("a probability is not in (0, 1]");
  if (auto ok = check(m.transitions, m.episodes, in.limits.transitions); !ok) {
    return tl::unexpected(ok.error());
  }
  return Message{std::move(m)};
}

Frame write(const PriorityUpdates& m) {
  PACML_CHECK(m.keys.size() == m.priorities.size() &&
                  m.keys.size() <= kDefaults.transitions.max_transitions,
              "one priority for each key, within the limit");
  Frame frame = EnvelopeWriter(index_of<PriorityUpdates>(), 1).number(m.keys.size()).frame();
  PayloadWriter payload;
  payload(m.keys);
  payload(m.priorities);
  frame.parts.push_back(payload.take());
  return frame;
}

Result<Message> read(std::type_identity<PriorityUpdates>, Source in) {
  PriorityUpdates m;
  const std::uint64_t count = in.envelope.number();
  if (!in.envelope.complete()) return bad_envelope();
  if (count > in.limits.transitions.max_transitions) {
    return over_limit("more updates than the limit");
  }
  const auto payload = expect_payload(in, count * (sizeof(std::uint64_t) + sizeof(float)));
  if (!payload) return tl::unexpected(payload.error());
  m.keys.resize(static_cast<std::size_t>(count));
  m.priorities.resize(static_cast<std::size_t>(count));
  PayloadReader reader(*payload);
  reader(m.keys);
  reader(m.priorities);
  return Message{std::move(m)};
}

Frame write(const GetStatus&) { return EnvelopeWriter(index_of<GetStatus>(), 0).frame(); }

Result<Message> read(std::type_identity<GetStatus>, Source in) { return finished(in, GetStatus{}); }

Frame write(const Status& m) {
  return EnvelopeWriter(index_of<Status>(), 1).text(m.text, kDefaults.max_status_text).frame();
}

Result<Message> read(std::type_identity<Status>, Source in) {
  return finished(in, Status{in.envelope.text(in.limits.max_status_text)});
}

// ---- Dispatch ----

template <std::size_t I = 0>
Result<Message> read_type(std::size_t type, Source in) {
  if constexpr (I == std::variant_size_v<Message>) {
    return corrupt("an unknown message type");
  } else if (type == I) {
    return read(std::type_identity<std::variant_alternative_t<I, Message>>{}, in);
  } else {
    return read_type<I + 1>(type, in);
  }
}

// The index of the message type. Anything else than our header is refused here.
Result<std::size_t> read_header(std::span<const std::byte> envelope) {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  std::uint16_t type = 0;
  if (envelope.size() < kHeaderBytes) return corrupt("shorter than a header");
  std::memcpy(&magic, envelope.data(), 4);
  std::memcpy(&version, envelope.data() + 4, 2);
  std::memcpy(&type, envelope.data() + 6, 2);
  if (magic != kMagic) return corrupt("not a frame of this protocol");
  if (version != kProtocolVersion) {
    return fail(Errc::kVersionMismatch, "the peer speaks protocol version " +
                                            std::to_string(version) + ", this program version " +
                                            std::to_string(kProtocolVersion));
  }
  if (type == 0 || type > std::variant_size_v<Message>) return corrupt("an unknown message type");
  return std::size_t{type} - 1;
}

// MessagePack trusts the lengths it reads, so its limits are set: a flat array of numbers and
// texts. nullopt: anything else.
std::optional<msgpack::object_handle> unpack(std::span<const std::byte> body,
                                             const WireLimits& limits) {
  constexpr std::size_t kMostFields = 48;
  const std::size_t longest =
      std::max({limits.max_config_text, limits.max_text, limits.max_status_text});
  const msgpack::unpack_limit unpack_limits(kMostFields, 0, longest, 0, 0, 1);
  std::size_t used = 0;
  try {
    auto handle = msgpack::unpack(reinterpret_cast<const char*>(body.data()), body.size(), used,
                                  nullptr, nullptr, unpack_limits);
    if (used != body.size() || handle->type != msgpack::type::ARRAY) return std::nullopt;
    return handle;
  } catch (const msgpack::unpack_error&) {
    return std::nullopt;
  }
}

}  // namespace

Frame encode(const Message& message) {
  return std::visit([](const auto& m) { return write(m); }, message);
}

Result<Message> decode(const Frame& frame, const WireLimits& limits) {
  if (frame.parts.empty()) return corrupt("an empty frame");
  if (frame.parts.size() > kMaxParts) return over_limit("more parts than any message has");
  const std::span<const std::byte> envelope = frame.parts[0];
  if (envelope.size() > limits.max_envelope_bytes) return over_limit("a too large envelope");
  const std::span<const Bytes> payload = std::span(frame.parts).subspan(1);
  for (const Bytes& part : payload) {
    if (part.size() > limits.max_payload_bytes) return over_limit("a too large payload");
  }
  const auto type = read_header(envelope);
  if (!type) return tl::unexpected(type.error());
  const auto body = unpack(envelope.subspan(kHeaderBytes), limits);
  if (!body) return corrupt("the envelope is not one flat MessagePack array");
  return read_type(*type, Source{EnvelopeReader((*body)->via.array), payload, limits});
}

std::string_view type_name(const Message& message) { return kTypeNames[message.index()]; }

}  // namespace pacml::wire

#include "common/wire/codec.h"

#include <cstring>
#include <limits>
#include <msgpack.hpp>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/wire_samples.h"

namespace pacml::wire {
namespace {

// A frame of our protocol whose envelope body is `body`.
Frame frame_of(std::uint16_t type, const std::string& body,
               std::uint16_t version = kProtocolVersion) {
  Bytes envelope(kHeaderBytes + body.size());
  std::memcpy(envelope.data(), &kMagic, 4);
  std::memcpy(envelope.data() + 4, &version, 2);
  std::memcpy(envelope.data() + 6, &type, 2);
  if (!body.empty()) std::memcpy(envelope.data() + kHeaderBytes, body.data(), body.size());
  return Frame{{std::move(envelope)}};
}

template <class... Fields>
std::string array_of(const Fields&... fields) {
  msgpack::sbuffer buffer;
  msgpack::packer<msgpack::sbuffer> packer(buffer);
  packer.pack_array(sizeof...(fields));
  (packer.pack(fields), ...);
  return {buffer.data(), buffer.size()};
}

Errc refusal(const Frame& frame, const WireLimits& limits = {}) {
  const auto result = decode(frame, limits);
  REQUIRE_FALSE(result.has_value());
  REQUIRE_FALSE(result.error().detail.empty());
  return result.error().code;
}

constexpr std::uint16_t kPing = 11;
constexpr std::uint16_t kHello = 1;
constexpr std::uint16_t kRefused = 3;
constexpr std::uint16_t kExperience = 4;
constexpr std::uint16_t kWeights = 7;
constexpr std::uint16_t kGraph = 10;
constexpr std::uint16_t kInsert = 14;
constexpr std::uint16_t kSample = 15;
constexpr std::uint16_t kPriorityUpdates = 17;

TEST_CASE("hand-made bytes decode", "[wire]") {
  const auto message = decode(frame_of(kPing, array_of(std::uint64_t{7})));
  REQUIRE(message);
  REQUIRE(std::get<Ping>(*message).nonce == 7);
}

TEST_CASE("another protocol or version is told apart from damage", "[wire]") {
  REQUIRE(refusal(frame_of(kPing, array_of(7U), 1)) == Errc::kVersionMismatch);
  Frame foreign = frame_of(kPing, array_of(7U));
  foreign.parts[0][0] = std::byte{'G'};
  REQUIRE(refusal(foreign) == Errc::kCorruptFrame);
}

TEST_CASE("a peer of another version is told so in one sentence", "[wire]") {
  for (const int difference : {-1, 1}) {
    const auto theirs = static_cast<std::uint16_t>(kProtocolVersion + difference);
    const auto message = decode(frame_of(kPing, array_of(7U), theirs));
    REQUIRE_FALSE(message);
    CHECK(message.error().detail == "the peer speaks protocol version " + std::to_string(theirs) +
                                        ", this program version " +
                                        std::to_string(kProtocolVersion));
  }
}

TEST_CASE("unknown types and short frames are refused", "[wire]") {
  REQUIRE(refusal(frame_of(0, array_of(7U))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(14, array_of(7U))) == Errc::kCorruptFrame);
  REQUIRE(refusal(Frame{}) == Errc::kCorruptFrame);
  REQUIRE(refusal(Frame{{Bytes{}}}) == Errc::kCorruptFrame);
  REQUIRE(refusal(Frame{{Bytes(7)}}) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, "")) == Errc::kCorruptFrame);
}

TEST_CASE("lengths that MessagePack would believe are refused before memory is asked for",
          "[wire]") {
  REQUIRE(refusal(frame_of(kPing, std::string("\xdd\xff\xff\xff\xff", 5))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, std::string("\xdf\xff\xff\xff\xff", 5))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, std::string("\x91\xdb\xff\xff\xff\xff", 6))) ==
          Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, std::string("\x91\xc6\xff\xff\xff\xff", 6))) ==
          Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, std::string("\x91\xc9\xff\xff\xff\xff\x01", 7))) ==
          Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, std::string(100'000, '\x91'))) == Errc::kCorruptFrame);
}

TEST_CASE("fields of another type, number or range are refused", "[wire]") {
  REQUIRE(refusal(frame_of(kPing, array_of("text"))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, array_of(-1))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, array_of(1.5))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, array_of())) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, array_of(1U, 2U))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPing, array_of(std::vector<unsigned>{1}))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kRefused, array_of(0U, "x", 0U))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kRefused, array_of(7U, "x", 0U))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kHello, array_of(9U, 0U, 0U, 0U, "", "", "", 0U))) ==
          Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kHello, array_of(1U, 1ULL << 32, 0U, 0U, "", "", "", 0U))) ==
          Errc::kCorruptFrame);
}

TEST_CASE("an actor that says of itself what no message could hold is refused", "[wire]") {
  const auto refused = [](std::uint32_t unroll_length, std::uint32_t most_unrolls) {
    Hello hello;
    hello.unroll_length = unroll_length;
    hello.most_unrolls = most_unrolls;
    const auto message = decode(encode(hello));
    return message ? std::optional<Errc>{} : message.error().code;
  };
  CHECK_FALSE(refused(4096, 256));
  CHECK_FALSE(refused(1, 1U << 20));
  CHECK(refused(4097, 1) == Errc::kOverLimit);
  CHECK(refused(4096, 257) == Errc::kOverLimit);
  CHECK(refused(1U << 16, 1U << 16) == Errc::kOverLimit);
  CHECK(refused(std::numeric_limits<std::uint32_t>::max(),
                std::numeric_limits<std::uint32_t>::max()) == Errc::kOverLimit);
  CHECK(refused(0, 1) == Errc::kCorruptFrame);
}

TEST_CASE("texts beyond their limit are refused, our own are cut", "[wire]") {
  const std::string long_text(2000, 'x');
  REQUIRE(refusal(frame_of(kRefused, array_of(1U, long_text, 0U))) == Errc::kCorruptFrame);
  const auto message = decode(encode(Goodbye{long_text}));
  REQUIRE(message);
  REQUIRE(std::get<Goodbye>(*message).reason.size() == 1024);
}

TEST_CASE("too many or too large parts are refused", "[wire]") {
  Frame frame = encode(Ping{1});
  frame.parts.resize(kMaxParts + 1);
  REQUIRE(refusal(frame) == Errc::kOverLimit);
  WireLimits limits;
  limits.max_payload_bytes = 3;
  REQUIRE(refusal(encode(Weights{PolicyVersion{1}, 2, {1.0F}}), limits) == Errc::kOverLimit);
  limits = {};
  limits.max_envelope_bytes = 8;
  REQUIRE(refusal(encode(Ping{1}), limits) == Errc::kOverLimit);
}

TEST_CASE("a payload must have the length its shape says", "[wire]") {
  Frame frame = encode(Weights{PolicyVersion{1}, 2, {1.0F, 2.0F}});
  frame.parts[1].resize(4);
  REQUIRE(refusal(frame) == Errc::kCorruptFrame);
  frame.parts.pop_back();
  REQUIRE(refusal(frame) == Errc::kCorruptFrame);
}

TEST_CASE("weights must match their hash and be finite", "[wire]") {
  Frame frame = encode(Weights{PolicyVersion{1}, 2, {1.0F, 2.0F}});
  frame.parts[1][0] ^= std::byte{1};
  REQUIRE_THAT(decode(frame).error().detail, Catch::Contains("hash"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE_THAT(decode(encode(Weights{PolicyVersion{1}, 2, {nan}})).error().detail,
               Catch::Contains("finite"));
}

TEST_CASE("more weights than the limit are refused before memory is asked for", "[wire]") {
  const std::uint64_t huge = std::uint64_t{1} << 62;
  REQUIRE(refusal(frame_of(kWeights, array_of(1U, 2U, 3U, huge))) == Errc::kOverLimit);
}

TEST_CASE("sequences with huge or impossible counts are refused before memory is asked for",
          "[wire]") {
  struct Counts {
    std::uint32_t sequences = 1, decisions = 1, versions = 1, episodes = 0, elapsed = 0;
    std::uint32_t action_values = 0;
    std::uint32_t slots = 1, globals = 1, candidates = 1, candidate_width = 0, agents = 1;
    std::uint32_t rows = 2, graphs = 1, node_values = 0, all_candidates = 2;
    std::uint32_t sequence = 1;
  };
  const auto refused = [](const Counts& c) {
    return refusal(frame_of(
        kExperience,
        array_of(1U, 1U, c.sequence, c.sequences, c.decisions, c.versions, c.episodes, c.elapsed,
                 c.action_values, c.slots, 0U, 0U, c.globals, c.candidates, 0U, c.candidate_width,
                 0U, c.agents, c.rows, c.graphs, c.node_values, c.all_candidates)));
  };
  constexpr std::uint32_t kMost = 0xffffffff;
  REQUIRE(refused({.decisions = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.sequences = kMost, .decisions = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.sequences = kMost}) == Errc::kCorruptFrame);
  REQUIRE(refused({.versions = kMost}) == Errc::kCorruptFrame);
  REQUIRE(refused({.elapsed = 2}) == Errc::kCorruptFrame);
  REQUIRE(refused({.action_values = kMost}) == Errc::kCorruptFrame);
  REQUIRE(refused({.episodes = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.globals = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.candidates = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.candidate_width = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.agents = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.rows = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.graphs = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.node_values = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.all_candidates = kMost}) == Errc::kOverLimit);
  REQUIRE(refused({.slots = kMost}) == Errc::kCorruptFrame);
  REQUIRE(refused({}) == Errc::kCorruptFrame);  // no payload
  REQUIRE(refused({.sequences = 0}) == Errc::kCorruptFrame);
  REQUIRE(refused({.sequence = 0}) == Errc::kCorruptFrame);  // they start at one
}

TEST_CASE("sequences that break their rules do not decode", "[wire]") {
  Rng rng(Seed{3});
  Experience experience{ActorId{1}, Incarnation{1}, Sequence{1}, testing::random_sequences(rng)};
  Frame frame = encode(experience);
  frame.parts[1].back() = std::byte{9};  // a mask or a flag
  REQUIRE(refusal(frame) == Errc::kCorruptFrame);
}

TEST_CASE("a graph's edges must join its nodes", "[wire]") {
  Graph graph;
  graph.num_nodes = 2;
  graph.num_edges = 1;
  graph.edge_src = {0};
  graph.edge_dst = {1};
  Frame frame = encode(graph);
  REQUIRE(decode(frame).has_value());
  frame.parts[1][0] = std::byte{2};
  REQUIRE_THAT(decode(frame).error().detail, Catch::Contains("not a node"));
  frame.parts[1][3] = std::byte{0x80};
  REQUIRE_THAT(decode(frame).error().detail, Catch::Contains("not a node"));
}

TEST_CASE("a graph with huge counts is refused before memory is asked for", "[wire]") {
  constexpr std::uint32_t kMost = 0xffffffff;
  REQUIRE(refusal(frame_of(kGraph, array_of(1U, kMost, kMost, kMost, kMost))) == Errc::kOverLimit);
}

TEST_CASE("every message has a name", "[wire]") {
  Rng rng(Seed{1});
  REQUIRE(type_name(Hello{}) == "hello");
  REQUIRE(type_name(Goodbye{}) == "goodbye");
  REQUIRE(type_name(testing::random_message(rng, 7)) == "weights announcement");
}

// One valid frame, changed by the test.
template <class M>
Frame sample_of(M (*make)(Rng&)) {
  Rng rng(Seed{5});
  return encode(make(rng));
}

// The double at `offset` of the payload replaced.
Frame with_double(Frame frame, std::size_t offset, double value) {
  std::memcpy(frame.parts[1].data() + offset, &value, sizeof(value));
  return frame;
}

TEST_CASE("what a shard says of its draws is checked", "[wire]") {
  const Frame good = sample_of(testing::random_samples);
  const auto message = decode(good);
  REQUIRE(message);
  const auto& samples = std::get<Samples>(*message);
  const Transitions& transitions = samples.transitions;
  const std::size_t probabilities =
      column_bytes(transitions.observations.shape(), transitions.observations.counts()) +
      transitions.size() * (sizeof(TransitionHead) + sizeof(std::uint64_t));
  for (const double wrong : {0.0, -0.5, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    REQUIRE(refusal(with_double(good, probabilities, wrong)) == Errc::kCorruptFrame);
  }
  REQUIRE(decode(with_double(good, probabilities, 1.0)));
}

TEST_CASE("a priority that no table takes still reaches the table, which counts it", "[wire]") {
  Rng rng(Seed{6});
  Insert insert = testing::random_insert(rng);
  insert.batch.priorities[0] = std::numeric_limits<float>::infinity();
  const auto message = decode(encode(insert));
  REQUIRE(message);
  REQUIRE(std::get<Insert>(*message) == insert);
}

TEST_CASE("counts beyond the limits are refused before anything is allocated", "[wire]") {
  const std::uint64_t many = std::numeric_limits<std::uint32_t>::max();
  // Actor, incarnation, sequence; transitions, episodes; one slot of two fields; globals,
  // candidates, whether their number varies, their width, whether they name nodes, agents; rows,
  // graphs, values of nodes, candidates.
  REQUIRE(refusal(frame_of(kInsert, array_of(0U, 0U, 1U, many, 0U, 1U, 0U, 0U, 17U, 17U, 0U, 0U, 0U,
                                             1U, 2U, 1U, 0U, 34U))) == Errc::kOverLimit);
  REQUIRE(refusal(frame_of(kInsert, array_of(0U, 0U, 1U, 1U, 0U, 1U, 0U, 0U, 17U, 17U, 0U, 0U, 0U,
                                             1U, 2U, 1U, 0U, many))) == Errc::kOverLimit);
  REQUIRE(refusal(frame_of(kInsert, array_of(0U, 0U, 0U, 1U, 0U, 1U, 0U, 0U, 17U, 17U, 0U, 0U, 0U,
                                             1U, 2U, 1U, 0U, 34U))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kSample, array_of(1U, many))) == Errc::kOverLimit);
  REQUIRE(refusal(frame_of(kSample, array_of(1U, 0U))) == Errc::kCorruptFrame);
  REQUIRE(refusal(frame_of(kPriorityUpdates, array_of(many))) == Errc::kOverLimit);
}

}  // namespace
}  // namespace pacml::wire

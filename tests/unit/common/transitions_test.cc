#include "common/experience/transitions.h"

#include <cmath>
#include <limits>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/wire_samples.h"

namespace pacml {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// One state's columns, owned.
struct State {
  std::uint16_t graph = 0;
  std::vector<float> globals = {0.5F, -2};
  std::vector<std::uint8_t> mask = {1, 0, 1};
};

// One valid transition, in parts that a test may spoil.
struct Row {
  TransitionHead head{.policy_version = PolicyVersion{9},
                      .n_step_return = 1.5F,
                      .discount = 0.97F,
                      .action = 2,
                      .discounted_time = 2.5F};
  State state;
  State next{1, {3, 4}, {0, 1, 0}};
};

Transitions transitions_of(const std::vector<Row>& rows) {
  Transitions t(plain_shape(2, 3));
  t.observations.set_graphs({GraphHash{11}, GraphHash{12}});
  for (const Row& row : rows) {
    t.heads.push_back(row.head);
    for (const State* state : {&row.state, &row.next}) {
      append_plain(t.observations, state->graph, state->globals, state->mask);
    }
  }
  return t;
}

std::string refusal(const Transitions& t, const TransitionLimits& limits = {}) {
  const auto result = validate(t, limits);
  return result ? "" : result.error().detail;
}

// Packs every transition on its own and reads them again.
Transitions through_packs(const Transitions& t, const std::vector<std::uint16_t>& graph_index) {
  Transitions out(t.observations.shape());
  Bytes packed;
  for (std::size_t i = 0; i < t.size(); ++i) {
    pack_transition(t, i, graph_index, packed);
    REQUIRE(append_packed(packed, out));
  }
  return out;
}

TEST_CASE("a transition of the published task is packed into 198 bytes", "[experience]") {
  CHECK(packed_bytes(plain_shape(17, 17)) == 198);
  Transitions t(plain_shape(17, 17));
  t.heads.emplace_back();
  t.observations = Observations(plain_shape(17, 17), 2);
  Bytes packed;
  pack_transition(t, 0, std::vector<std::uint16_t>{0}, packed);
  CHECK(packed.size() == 198);
}

TEST_CASE("a transition is between two rows of any stores", "[experience]") {
  const Transitions from = transitions_of({Row{}, Row{}});
  Transitions t(plain_shape(2, 3));
  t.append(Row{}.head, from.observations, 2, from.observations, 3);
  CHECK(t == transitions_of({Row{}}));
}

TEST_CASE("what is packed one by one is read again, with its graphs renumbered", "[experience]") {
  Rng rng(Seed{2});
  for (int i = 0; i < 300; ++i) {
    const Transitions t = testing::random_transitions(rng);
    std::vector<std::uint16_t> index;
    std::vector<std::uint16_t> back(10);
    for (std::size_t g = 0; g < t.observations.graphs().size(); ++g) {
      index.push_back(static_cast<std::uint16_t>(9 - g));
      back[index.back()] = static_cast<std::uint16_t>(g);
    }
    const Transitions read = through_packs(t, index);
    REQUIRE(read.heads == t.heads);
    REQUIRE(read.observations.graph(0) == index[t.observations.graph(0)]);
    Observations same(t.observations.shape());
    same.set_graphs(t.observations.graphs());
    same.append_rows(read.observations, 0, read.observations.size(), back);
    REQUIRE(same == t.observations);
  }
}

TEST_CASE("bytes that are no packed transition are refused", "[experience]") {
  Rng rng(Seed{3});
  for (int i = 0; i < 100; ++i) {
    const Transitions t = testing::random_transitions(rng);
    Bytes packed;
    pack_transition(t, 0, std::vector<std::uint16_t>(3), packed);
    const auto read = [&](std::span<const std::byte> bytes) {
      Transitions out(t.observations.shape());
      return append_packed(bytes, out);
    };
    REQUIRE(read(packed));
    const std::size_t cut = rng.below(packed.size());
    REQUIRE_FALSE(read(std::span(packed).first(cut)));
    packed.push_back(std::byte{0});
    REQUIRE_FALSE(read(packed));
  }
}

TEST_CASE("no transitions are valid, and so are random ones", "[experience]") {
  CHECK(refusal(transitions_of({})) == "");
  Rng rng(Seed{1});
  for (int i = 0; i < 200; ++i) REQUIRE(refusal(testing::random_transitions(rng)) == "");
}

TEST_CASE("a row that breaks one promise is refused, wherever it is", "[experience]") {
  Row bad;
  std::string sentence;
  SECTION("graph") {
    const bool next = GENERATE(false, true);
    (next ? bad.next : bad.state).graph = 2;
    sentence = "observations: a graph index is out of range";
  }
  SECTION("return") {
    bad.head.n_step_return = GENERATE(as<float>{}, kNan, kInfinite, -kInfinite);
    sentence = "transitions: a return is not finite";
  }
  SECTION("discount") {
    bad.head.discount = GENERATE(as<float>{}, kNan, -0.1F, 1.001F, kInfinite);
    sentence = "transitions: a discount is not in 0..1";
  }
  SECTION("time") {
    bad.head.discounted_time = GENERATE(as<float>{}, kNan, 0, -1, kInfinite);
    sentence = "transitions: a transition takes no time, or no end of it";
  }
  SECTION("action out of range") {
    bad.head.action = GENERATE(-1, 3, 32767, std::numeric_limits<std::int32_t>::min());
    sentence = "transitions: an action is out of range";
  }
  SECTION("action masked") {
    bad.head.action = 1;
    sentence = "transitions: an action was not allowed by its mask";
  }
  SECTION("features") {
    const bool next = GENERATE(false, true);
    const std::size_t feature = GENERATE(0U, 1U);
    const float value = GENERATE(as<float>{}, kNan, kInfinite, -kInfinite);
    (next ? bad.next : bad.state).globals[feature] = value;
    sentence = "observations: a feature is not finite";
  }
  SECTION("masks") {
    const bool next = GENERATE(false, true);
    const std::vector<std::uint8_t> mask =
        GENERATE(std::vector<std::uint8_t>{0, 0, 0}, std::vector<std::uint8_t>{1, 0, 2},
                 std::vector<std::uint8_t>{1, 0, 3}, std::vector<std::uint8_t>{0, 255, 1});
    (next ? bad.next : bad.state).mask = mask;
    sentence = "observations: a mask holds something other than 0 and 1, or allows no action";
  }
  CHECK(refusal(transitions_of({bad})) == sentence);
  CHECK(refusal(transitions_of({Row{}, Row{}, bad})) == sentence);
  CHECK(refusal(transitions_of({bad, Row{}})) == sentence);
  CHECK(validate(transitions_of({bad})).error().code == Errc::kCorruptFrame);
}

TEST_CASE("the edges of what is allowed are allowed", "[experience]") {
  Row row;
  row.head.discount = GENERATE(0.0F, 1.0F);
  row.head.n_step_return = GENERATE(std::numeric_limits<float>::max(), -0.0F);
  row.head.discounted_time =
      GENERATE(std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max());
  row.state.globals[0] = std::numeric_limits<float>::denorm_min();
  CHECK(refusal(transitions_of({row})) == "");
}

TEST_CASE("a transition has two states", "[experience]") {
  Transitions t = transitions_of({Row{}});
  t.heads.push_back(Row{}.head);
  CHECK(refusal(t) == "transitions: not two observations for each");
}

TEST_CASE("what is larger than the limits is refused as that", "[experience]") {
  const Transitions t = transitions_of({Row{}, Row{}, Row{}});
  TransitionLimits limits;
  limits.max_transitions = 3;
  CHECK(refusal(t, limits) == "");
  if (GENERATE(false, true)) {
    limits.max_transitions = 2;
  } else {
    limits.observations.max_globals = 1;
  }
  const auto result = validate(t, limits);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::kOverLimit);
}

}  // namespace
}  // namespace pacml

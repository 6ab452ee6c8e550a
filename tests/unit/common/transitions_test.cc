#include "common/experience/transitions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/wire_samples.h"

namespace pacml {
namespace {

constexpr TransitionShape kShape{2, 3};
constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// One state's columns, owned.
struct State {
  std::vector<float> globals = {0.5F, -2};
  std::vector<std::uint8_t> mask = {1, 0, 1};
  bool operator==(const State&) const = default;
};

// One valid row, in parts that a test may spoil.
struct Row {
  TransitionHead head{.policy_version = PolicyVersion{9},
                      .n_step_return = 1.5F,
                      .discount = 0.97F,
                      .graph = 0,
                      .next_graph = 1,
                      .action = 2,
                      .steps = 3};
  State state;
  State next{{3, 4}, {0, 1, 0}};
};

Transitions transitions_of(const std::vector<Row>& rows) {
  Transitions t;
  t.shape = kShape;
  t.graphs = {GraphHash{11}, GraphHash{12}};
  for (const Row& row : rows) {
    t.append(row.head, {0, row.state.globals, row.state.mask},
             {0, row.next.globals, row.next.mask});
  }
  return t;
}

State read(std::span<const std::byte> row, bool next) {
  State state{std::vector<float>(2), std::vector<std::uint8_t>(3)};
  read_state(row, kShape, next, state.globals, state.mask);
  return state;
}

std::string refusal(const Transitions& t, const TransitionLimits& limits = {}) {
  const auto result = validate(t, limits);
  return result ? "" : result.error().detail;
}

TEST_CASE("a row is as long as is documented", "[experience]") {
  CHECK(TransitionShape{17, 17}.row_bytes() == 200);
  CHECK(TransitionShape{0, 1}.row_bytes() == 32);
  CHECK(TransitionShape{0, 4}.row_bytes() == 32);
  CHECK(TransitionShape{1, 4}.row_bytes() == 40);
  for (std::uint32_t a = 1; a < 40; ++a) CHECK(TransitionShape{3, a}.row_bytes() % 8 == 0);
}

TEST_CASE("what is appended is read again, row by row", "[experience]") {
  Row second;
  second.head.discount = 0;
  second.head.action = 0;
  second.state.globals = {7, 8};
  second.next.mask = {1, 1, 1};
  const Transitions t = transitions_of({Row{}, second, Row{}});
  REQUIRE(refusal(t) == "");
  REQUIRE(t.size() == 3);
  for (const std::size_t i : {0, 1, 2}) {
    const Row expected = i == 1 ? second : Row{};
    CHECK(read_head(t.row(i)) == expected.head);
    CHECK(read(t.row(i), false) == expected.state);
    CHECK(read(t.row(i), true) == expected.next);
  }
}

TEST_CASE("a row may lie at any address", "[experience]") {
  const Transitions t = transitions_of({Row{}});
  Bytes moved(t.rows.size() + 1);
  std::ranges::copy(t.rows, moved.begin() + 1);
  const auto row = std::span(moved).subspan(1);
  CHECK(read_head(row) == Row{}.head);
  CHECK(read(row, false) == Row{}.state);
  CHECK(read(row, true) == Row{}.next);
}

TEST_CASE("the bytes that fill a row up are zero", "[experience]") {
  const Transitions t = transitions_of({Row{}});
  const std::size_t used = sizeof(TransitionHead) + 2 * (2 * sizeof(float) + 3);
  REQUIRE(t.rows.size() > used);
  for (std::size_t i = used; i < t.rows.size(); ++i) CHECK(t.rows[i] == std::byte{0});
}

TEST_CASE("a row's graphs can be renumbered, and nothing else changes", "[experience]") {
  Transitions t = transitions_of({Row{}, Row{}});
  write_graphs(std::span(t.rows).subspan(kShape.row_bytes()), 7, 8);
  CHECK(read_head(t.row(0)) == Row{}.head);
  TransitionHead expected = Row{}.head;
  expected.graph = 7;
  expected.next_graph = 8;
  CHECK(read_head(t.row(1)) == expected);
  CHECK(read(t.row(1), false) == Row{}.state);
  CHECK(read(t.row(1), true) == Row{}.next);
}

TEST_CASE("states without features are states", "[experience]") {
  Transitions t;
  t.shape = {0, 2};
  t.graphs = {GraphHash{1}};
  const std::vector<std::uint8_t> mask = {0, 1};
  TransitionHead head;
  head.action = 1;
  head.steps = 1;
  t.append(head, {0, {}, mask}, {0, {}, mask});
  CHECK(refusal(t) == "");
  std::vector<std::uint8_t> read_mask(2);
  read_state(t.row(0), t.shape, true, {}, read_mask);
  CHECK(read_mask == mask);
}

TEST_CASE("no transitions are valid, and so are random ones", "[experience]") {
  Transitions none;
  none.shape = kShape;
  CHECK(refusal(none) == "");
  CHECK(none.size() == 0);
  Rng rng(Seed{1});
  for (int i = 0; i < 200; ++i) REQUIRE(refusal(testing::random_transitions(rng)) == "");
}

TEST_CASE("a row that breaks one promise is refused, wherever it is", "[experience]") {
  Row bad;
  std::string sentence;
  SECTION("graph") {
    bad.head.graph = 2;
    sentence = "transitions: a graph index is out of range";
  }
  SECTION("next graph") {
    bad.head.next_graph = 2;
    sentence = "transitions: a graph index is out of range";
  }
  SECTION("return") {
    bad.head.n_step_return = GENERATE(as<float>{}, kNan, kInfinite, -kInfinite);
    sentence = "transitions: a return is not finite";
  }
  SECTION("discount") {
    bad.head.discount = GENERATE(as<float>{}, kNan, -0.1F, 1.001F, kInfinite);
    sentence = "transitions: a discount is not in 0..1";
  }
  SECTION("steps") {
    bad.head.steps = 0;
    sentence = "transitions: a transition of no steps";
  }
  SECTION("action out of range") {
    bad.head.action = GENERATE(std::int16_t{-1}, std::int16_t{3}, std::int16_t{32767});
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
    sentence = "transitions: a feature is not finite";
  }
  SECTION("masks") {
    const bool next = GENERATE(false, true);
    const std::vector<std::uint8_t> mask =
        GENERATE(std::vector<std::uint8_t>{0, 0, 0}, std::vector<std::uint8_t>{1, 0, 2},
                 std::vector<std::uint8_t>{1, 0, 3}, std::vector<std::uint8_t>{0, 255, 1});
    (next ? bad.next : bad.state).mask = mask;
    sentence = "transitions: a mask holds something other than 0 and 1, or allows no action";
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
  row.head.steps = GENERATE(std::uint16_t{1}, std::uint16_t{65535});
  row.state.globals[0] = std::numeric_limits<float>::denorm_min();
  CHECK(refusal(transitions_of({row})) == "");
}

TEST_CASE("rows are whole, and have actions", "[experience]") {
  Transitions t = transitions_of({Row{}});
  t.rows.pop_back();
  CHECK(refusal(t) == "transitions: a row is incomplete");
  t.shape.num_actions = 0;
  CHECK(refusal(t) == "transitions: actions must be at least 1");
}

TEST_CASE("what is larger than the limits is refused as that", "[experience]") {
  const Transitions t = transitions_of({Row{}, Row{}, Row{}});
  CHECK(refusal(t, {.max_transitions = 3, .max_globals = 2, .max_actions = 3, .max_graphs = 2}) ==
        "");
  const auto limits =
      GENERATE(TransitionLimits{.max_transitions = 2}, TransitionLimits{.max_globals = 1},
               TransitionLimits{.max_actions = 2}, TransitionLimits{.max_graphs = 1});
  const auto result = validate(t, limits);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::kOverLimit);
}

}  // namespace
}  // namespace pacml

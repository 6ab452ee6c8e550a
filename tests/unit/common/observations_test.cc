#include "common/experience/observations.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/wire_samples.h"

namespace pacml {
namespace {

// Everything that one row says, with its graphs by name.
struct Seen {
  std::vector<GraphHash> graphs;
  std::vector<std::uint32_t> focus;
  std::vector<std::vector<float>> nodes;
  std::vector<float> globals;
  std::vector<float> candidates;
  std::vector<std::uint32_t> candidate_nodes;
  std::vector<std::uint8_t> mask;
  std::uint16_t agent = 0;
  bool operator==(const Seen&) const = default;
};

template <class T>
std::vector<T> copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

Seen look(const Observations& o, std::size_t b) {
  Seen seen;
  for (std::size_t slot = 0; slot < o.shape().slots.size(); ++slot) {
    seen.graphs.push_back(o.graphs().at(o.graph(b, slot)));
    if (o.shape().slots[slot].focus) seen.focus.push_back(o.focus(b, slot));
    seen.nodes.push_back(copy(o.node_features(b, slot)));
  }
  seen.globals = copy(o.globals(b));
  seen.candidates = copy(o.candidates(b));
  seen.candidate_nodes = copy(o.candidate_nodes(b));
  seen.mask = copy(o.mask(b));
  seen.agent = o.agent(b);
  return seen;
}

std::string refusal(const Observations& o, const ObservationLimits& limits = {}) {
  const auto result = validate(o, limits);
  return result ? "" : result.error().detail;
}

// Two graphs a decision, the second with features that change and a focus; candidates whose number
// varies, with two features and a node each; two agents.
ObservationShape widest_shape() {
  ObservationShape shape = plain_shape(2, 4);
  shape.slots.push_back({.dynamic_width = 3, .focus = true});
  shape.candidates_vary = shape.candidates_name_nodes = true;
  shape.candidate_width = 2;
  shape.agents = 2;
  return shape;
}

Observations widest_rows() {
  Observations o(widest_shape());
  o.set_graphs({GraphHash{5}, GraphHash{6}});
  for (const std::uint32_t count : {3U, 1U}) {
    const std::vector<std::uint32_t> nodes = {count + 1};
    const ObservationRow row = o.append({.candidates = count, .nodes = nodes});
    row.graph[1] = 1;
    row.mask[0] = 1;
  }
  return o;
}

TEST_CASE("a row has the columns of its shape and no others", "[experience]") {
  Observations plain(plain_shape(17, 17));
  const ObservationRow row = plain.append();
  CHECK(row.graph.size() == 1);
  CHECK(row.globals.size() == 17);
  CHECK(row.mask.size() == 17);
  CHECK(row.focus.empty());
  CHECK(row.node_features.empty());
  CHECK(row.candidates.empty());
  CHECK(row.candidate_nodes.empty());
  CHECK(row.agent.empty());
  // Nothing else takes memory, on the wire or in a table.
  CHECK(column_bytes(plain.shape(), plain.counts()) == 2 + 4 * 17 + 17);
  CHECK(plain.shape().row_bytes() == 2 + 4 * 17 + 17);
  ObservationSpec spec;
  spec.slots = {{.name = "still"}, {.name = "changes", .dynamic_width = 3, .most_nodes = 4}};
  CHECK(spec.row_bytes() == spec.shape().row_bytes(4));

  const Observations wide = widest_rows();
  CHECK(wide.num_candidates(0) == 3);
  CHECK(wide.num_candidates(1) == 1);
  CHECK(wide.node_features(0, 0).empty());
  CHECK(wide.node_features(0, 1).size() == 4 * 3);
  CHECK(wide.node_features(1, 1).size() == 2 * 3);
  CHECK(wide.candidates(0).size() == 3 * 2);
  CHECK(wide.candidate_nodes(1).size() == 1);
}

TEST_CASE("what is written into a row is read from it, and from no other", "[experience]") {
  Rng rng(Seed{1});
  for (int n = 0; n < 300; ++n) {
    const Observations o = testing::random_observations(rng, 1 + rng.below(5));
    REQUIRE(refusal(o) == "");
    std::uint64_t sum = 0;
    o.visit_columns([&](auto column) { sum += column.size_bytes(); });
    REQUIRE(sum == column_bytes(o.shape(), o.counts()));
    Observations changed = o;
    const std::size_t b = rng.below(o.size());
    const ObservationRow row = changed.row(b);
    for (const auto values : {row.node_features, row.globals, row.candidates}) {
      for (float& value : values) value += 1;
    }
    for (auto& node : row.focus) ++node;
    for (auto& node : row.candidate_nodes) ++node;
    for (std::size_t other = 0; other < o.size(); ++other) {
      if (other != b) REQUIRE(look(changed, other) == look(o, other));
    }
    Seen expected = look(o, b);
    for (auto* values : {&expected.globals, &expected.candidates}) {
      for (float& value : *values) value += 1;
    }
    for (auto& part : expected.nodes) {
      for (float& value : part) value += 1;
    }
    for (auto& node : expected.focus) ++node;
    for (auto& node : expected.candidate_nodes) ++node;
    REQUIRE(look(changed, b) == expected);
  }
}

TEST_CASE("copied rows say the same, whatever the lists of graphs", "[experience]") {
  Rng rng(Seed{2});
  for (int n = 0; n < 300; ++n) {
    const Observations from = testing::random_observations(rng, 1 + rng.below(6));
    Observations to(from.shape());
    std::vector<GraphHash> graphs;  // some of the same, in another order, and a foreign one
    for (const GraphHash hash : from.graphs()) {
      if (rng.below(2) == 0) graphs.insert(graphs.begin(), hash);
    }
    graphs.insert(graphs.begin(), GraphHash{rng.next()});
    if (rng.below(2) == 0) to.set_graphs(graphs);
    std::vector<Seen> expected;
    for (int piece = 0; piece < 4; ++piece) {
      const std::size_t begin = rng.below(from.size());
      const std::size_t count = rng.below(from.size() - begin + 1);
      to.append_rows(from, begin, count);
      for (std::size_t b = begin; b < begin + count; ++b) expected.push_back(look(from, b));
      to.append_row(from, begin);
      expected.push_back(look(from, begin));
    }
    REQUIRE(refusal(to) == "");
    REQUIRE(to.size() == expected.size());
    for (std::size_t b = 0; b < to.size(); ++b) REQUIRE(look(to, b) == expected[b]);
  }
}

TEST_CASE("a cleared store keeps its graphs and begins anew", "[experience]") {
  Observations o = widest_rows();
  const Observations same = o;
  o.clear();
  CHECK(o.size() == 0);
  CHECK(o.graphs() == same.graphs());
  CHECK(o.masks().empty());
  o.append_rows(same, 0, 2);
  CHECK(o == same);
}

TEST_CASE("every way in which rows make no sense is refused in one sentence", "[experience]") {
  Observations o = widest_rows();
  REQUIRE(refusal(o) == "");
  const std::size_t b = GENERATE(0U, 1U);
  const ObservationRow row = o.row(b);
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN());
  std::string sentence = "observations: a feature is not finite";
  SECTION("graph") {
    row.graph[GENERATE(0U, 1U)] = 2;
    sentence = "observations: a graph index is out of range";
  }
  SECTION("focus") {
    row.focus[0] = 1U << 20;
    sentence = "observations: a node is out of range";
  }
  SECTION("node of a candidate") {
    row.candidate_nodes[0] = 1U << 20;
    sentence = "observations: a node is out of range";
  }
  SECTION("agent") {
    row.agent[0] = 2;
    sentence = "observations: an agent is out of range";
  }
  SECTION("global") { row.globals[1] = bad; }
  SECTION("feature of a node") { row.node_features.back() = bad; }
  SECTION("feature of a candidate") { row.candidates.back() = bad; }
  SECTION("mask") {
    row.mask[0] = GENERATE(std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{255});
    sentence = "observations: a mask holds something other than 0 and 1, or allows no action";
  }
  CHECK(refusal(o) == sentence);
  CHECK(validate(o).error().code == Errc::kCorruptFrame);
}

// As a decoder fills a store: column after column, whatever the bytes say.
Observations with_bytes(const Observations& o, std::size_t column, std::size_t element,
                        std::uint32_t value) {
  Observations out(o.shape(), o.counts());
  std::vector<Bytes> columns;
  o.visit_columns([&](auto from) {
    const auto bytes = std::as_bytes(from);
    columns.emplace_back(bytes.begin(), bytes.end());
  });
  std::memcpy(columns[column].data() + element * sizeof(value), &value, sizeof(value));
  std::size_t next = 0;
  out.visit_columns([&](auto to) {
    if (!to.empty()) std::memcpy(to.data(), columns[next].data(), to.size_bytes());
    ++next;
  });
  return out;
}

TEST_CASE("lengths from elsewhere are checked before anything is looked up by them",
          "[experience]") {
  constexpr std::size_t kNodeEnds = 4;
  constexpr std::size_t kCandidateEnds = 5;
  const Observations o = widest_rows();
  REQUIRE(with_bytes(o, kNodeEnds, 0, 12) == o);
  REQUIRE(with_bytes(o, kCandidateEnds, 0, 3) == o);
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint32_t end : {0U, 5U, most}) {
    CHECK(refusal(with_bytes(o, kCandidateEnds, 0, end)) != "");
  }
  for (const std::uint32_t end : {0U, 3U, 5U, most}) {
    CHECK(refusal(with_bytes(o, kCandidateEnds, 1, end)) != "");
  }
  for (const std::uint32_t end : {1U, 21U, most}) {
    CHECK(refusal(with_bytes(o, kNodeEnds, 0, end)) != "");
  }
  for (const std::uint32_t end : {0U, 17U, 21U, most}) {
    CHECK(refusal(with_bytes(o, kNodeEnds, 1, end)) != "");
  }
}

TEST_CASE("wider observations than peers believe are refused, and why is said", "[experience]") {
  ObservationLimits limits;
  std::string sentence;
  SECTION("graphs") {
    limits.max_slots = 1;
    sentence = "2 graphs a decision, more than 1";
  }
  SECTION("features of nodes") {
    limits.max_dynamic_width = 2;
    sentence = "3 features a node, more than 2";
  }
  SECTION("globals") {
    limits.max_globals = 1;
    sentence = "2 global features, more than 1";
  }
  SECTION("candidates") {
    limits.max_candidates = 3;
    sentence = "4 candidates, more than 3";
  }
  SECTION("features of candidates") {
    limits.max_candidate_width = 1;
    sentence = "2 features a candidate, more than 1";
  }
  SECTION("agents") {
    limits.max_agents = 1;
    sentence = "2 agents, more than 1";
  }
  CHECK(beyond(widest_shape(), limits) == sentence);
  CHECK(refusal(widest_rows(), limits) == "observations: " + sentence);
  CHECK(validate(widest_rows(), limits).error().code == Errc::kOverLimit);
  CHECK_FALSE(beyond(widest_shape()));
}

TEST_CASE("a task's description is checked by name", "[experience]") {
  ObservationSpec spec = plain_spec(2, 3);
  spec.candidates.features = {{"completion_time", "s"}, {"servers", "1"}};
  using Sentences = std::vector<std::string>;
  CHECK(validate(spec) == Sentences{});
  CHECK(spec.shape().candidate_width == 2);
  Sentences expected;
  SECTION("two of a name") {
    spec.globals[1].name = spec.globals[0].name;
    expected = {"globals: two are named global_0"};
  }
  SECTION("none") {
    spec.candidates.features[0].name = "";
    expected = {"candidates: one has no name"};
  }
  SECTION("a unit that is missing") {
    spec.globals[0].unit = "";
    expected = {"globals: global_0 has no unit"};
  }
  SECTION("a range the wrong way round") {
    spec.candidates.features[1] = {"servers", "1", 2, 1};
    expected = {"candidates: servers has no range"};
  }
  SECTION("no graph") {
    spec.slots.clear();
    expected = {"a decision shows at least one graph"};
  }
  SECTION("no candidate") {
    spec.candidates.most = 0;
    expected = {"a decision has at least one candidate"};
  }
  SECTION("nodes of a graph that is not there") {
    spec.candidates.node_slot = 1;
    expected = {"candidates name nodes of a graph that is not shown"};
  }
  SECTION("too many") {
    spec.candidates.most = 5000;
    expected = {"5000 candidates, more than 4096"};
  }
  CHECK(validate(spec) == expected);
}

TEST_CASE("a row that is taken off leaves the store as it was before", "[experience]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 20));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  const Observations whole = testing::random_observations(rng, 5);
  Observations grown(whole.shape());
  std::vector<Observations> before;
  for (std::size_t b = 0; b < whole.size(); ++b) {
    before.push_back(grown);
    grown.append_row(whole, b);
    before.back().set_graphs(grown.graphs());
  }
  for (std::size_t b = whole.size(); b-- > 0;) {
    grown.pop_row();
    CHECK(grown == before[b]);
  }
}

TEST_CASE("valid candidates are those that the mask says", "[experience]") {
  Observations rows(plain_shape(1, 4));
  for (const std::vector<std::uint8_t>& mask :
       {std::vector<std::uint8_t>{1, 0, 0, 0}, {0, 1, 1, 0}, {1, 1, 1, 1}}) {
    append_plain(rows, 0, std::vector<float>{0}, mask);
  }
  CHECK(rows.num_valid(0) == 1);
  CHECK(rows.num_valid(1) == 2);
  CHECK(rows.num_valid(2) == 4);
}

}  // namespace
}  // namespace pacml

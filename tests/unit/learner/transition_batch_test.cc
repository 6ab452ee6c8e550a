#include "learner/transition_batch.h"

#include <memory>
#include <string>
#include <vector>

#include "learner/fits.h"
#include "tests/support/catch.h"
#include "tests/support/transition_builder.h"

namespace pacml::learner {
namespace {

env::GraphFeaturesPtr graph(std::uint64_t hash, int width = 2) {
  auto out = std::make_shared<env::GraphFeatures>();
  out->num_nodes = 1;
  out->node_width = width;
  out->node_features.assign(static_cast<std::size_t>(width), 1.0F);
  out->hash = GraphHash{hash};
  return out;
}

TEST_CASE("a batch says of each transition what its row says", "[unit][learner]") {
  GraphRegistry registry;
  for (const std::uint64_t hash : {7, 8, 9}) registry.add(graph(hash));
  Transitions transitions(plain_shape(2, 3));
  transitions.observations.set_graphs({GraphHash{9}, GraphHash{7}});
  const std::vector<float> here = {1, 2};
  const std::vector<float> there = {3, 4};
  const std::vector<std::uint8_t> mask = {1, 0, 1};
  const std::vector<std::uint8_t> next_mask = {0, 1, 1};
  transitions.heads = {{PolicyVersion{5}, 1.5F, 0.25F, 2, 3}, {PolicyVersion{6}, -2, 0, 1, 1}};
  append_plain(transitions.observations, 0, here, mask);
  append_plain(transitions.observations, 1, there, next_mask);
  append_plain(transitions.observations, 1, there, next_mask);
  append_plain(transitions.observations, 0, here, mask);
  REQUIRE(validate(transitions));

  TransitionBatch batch;
  // A larger batch of other widths first: what it leaves behind must not show.
  assemble(plain_transitions(std::vector<PlainTransition>(5), GraphHash{8}, 4, 2),
           std::vector<double>(5, 0.5), registry, batch);
  assemble(transitions, std::vector{0.125, 0.5}, registry, batch);
  REQUIRE(batch.size() == 2);
  CHECK(batch.actions == std::vector<std::int32_t>{2, 1});
  CHECK(batch.n_step_returns == std::vector<float>{1.5F, -2});
  CHECK(batch.discounts == std::vector<float>{0.25F, 0});
  CHECK(batch.policy_versions == std::vector{PolicyVersion{5}, PolicyVersion{6}});
  CHECK(batch.probabilities == std::vector{0.125, 0.5});
  CHECK(std::vector(batch.states.graph_indices().begin(), batch.states.graph_indices().end()) ==
        std::vector<std::uint16_t>{2, 0});
  CHECK(std::vector(batch.next_states.graph_indices().begin(),
                    batch.next_states.graph_indices().end()) == std::vector<std::uint16_t>{0, 2});
  const auto is = [](const Observations& states, std::size_t row, const std::vector<float>& globals,
                     const std::vector<std::uint8_t>& valid) {
    return std::ranges::equal(states.globals(row), globals) &&
           std::ranges::equal(states.mask(row), valid);
  };
  CHECK(is(batch.states, 0, here, mask));
  CHECK(is(batch.next_states, 0, there, next_mask));
  CHECK(is(batch.states, 1, there, next_mask));
  CHECK(is(batch.next_states, 1, here, mask));
}

TEST_CASE("transitions for another network do not fit", "[unit][learner]") {
  model::NetworkShape shape;
  shape.slots = {{.node_width = 2}};
  shape.globals = 4;
  shape.actions = 3;
  GraphRegistry registry;
  REQUIRE(registry.add_readable(std::vector{graph(1), graph(2, 5)}, shape));
  REQUIRE_FALSE(registry.add_readable(std::vector{graph(1)}, shape));  // known already
  const std::vector<PlainTransition> rows(2);
  CHECK(fits(plain_transitions(rows, GraphHash{1}, 4, 3), shape, registry));
  const auto sentence = [&](const Transitions& transitions) {
    const auto result = fits(transitions, shape, registry);
    REQUIRE_FALSE(result);
    return result.error().detail;
  };
  CHECK(sentence(plain_transitions(rows, GraphHash{1}, 5, 3)) ==
        "experience has 5 global features, the network expects 4");
  CHECK(sentence(plain_transitions(rows, GraphHash{1}, 4, 2)) ==
        "experience has 2 actions, the network expects 3");
  ObservationShape with_features = plain_shape(4, 3);
  with_features.candidate_width = 1;
  CHECK(sentence(Transitions(with_features)) ==
        "experience shows other things than the network reads");
  CHECK(sentence(plain_transitions(rows, GraphHash{2}, 4, 3)) ==
        "experience names 1 unknown graphs");  // one that the network cannot read
}

// Two slots: a graph of two nodes, whose features change, with a focus, and one of a node. The
// candidates are nodes of the first.
struct ShownGraphs {
  ShownGraphs() {
    shape.slots = {{.node_width = 1, .dynamic_width = 2, .focus = true}, {.node_width = 3}};
    shape.node_slot = 0;
    shape.globals = 1;
    shape.actions = 2;
    const auto two_nodes = std::make_shared<env::GraphFeatures>(*graph(1, 1));
    two_nodes->num_nodes = 2;
    two_nodes->node_features = {1, 2};
    REQUIRE(registry.add_readable(
        std::vector<env::GraphFeaturesPtr>{two_nodes, graph(2, 3), graph(3, 4)}, shape));
    transitions = Transitions(model::input_shape(shape));
    transitions.observations.set_graphs({GraphHash{1}, GraphHash{2}});
  }

  // A transition of two such rows.
  void append(std::uint32_t nodes = 2) {
    transitions.heads.resize(1);
    for (int row = 0; row < 2; ++row) {
      const auto shown = transitions.observations.append({.candidates = 0, .nodes = {&nodes, 1}});
      shown.graph[1] = 1;
      shown.mask[0] = 1;
    }
  }
  [[nodiscard]] std::string problem() const {
    const auto result = fits(transitions, shape, registry);
    return result ? "" : result.error().detail;
  }

  model::NetworkShape shape;
  GraphRegistry registry;
  Transitions transitions;
};

TEST_CASE("rows show in each slot a graph that is read there, and name nodes that it has",
          "[unit][learner]") {
  ShownGraphs the;
  REQUIRE(the.registry.graphs().size() == 2);  // no slot has nodes with four features
  SECTION("all is well") {
    the.append();
    CHECK(the.problem().empty());
  }
  SECTION("graphs that are read, but elsewhere") {
    the.append();
    the.transitions.observations.row(1).graph[0] = 1;
    CHECK(the.problem() == "experience shows a graph where the network reads others");
  }
  SECTION("features of more nodes than the graph has") {
    the.append(3);
    CHECK(the.problem() == "experience is about nodes that its graph has not");
  }
  SECTION("a focus beyond the graph") {
    the.append();
    the.transitions.observations.row(0).focus[0] = 2;
    CHECK(the.problem() == "experience is about nodes that its graph has not");
  }
  SECTION("a candidate beyond the graph") {
    the.append();
    the.transitions.observations.row(1).candidate_nodes[1] = 2;
    CHECK(the.problem() == "experience is about nodes that its graph has not");
  }
}

}  // namespace
}  // namespace pacml::learner

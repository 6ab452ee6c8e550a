#include "learner/transition_batch.h"

#include <memory>
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

}  // namespace
}  // namespace pacml::learner

#include "learner/train_batch.h"

#include <memory>
#include <vector>

#include "learner/fits.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/unroll_builder.h"

namespace pacml::learner {
namespace {

env::GraphFeaturesPtr graph_with_hash(std::uint64_t hash) {
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = 1;
  graph->hash = GraphHash{hash};
  return graph;
}

TEST_CASE("a graph keeps its index, and is added once", "[unit][learner]") {
  GraphRegistry registry;
  REQUIRE(registry.add(graph_with_hash(7)) == 0);
  REQUIRE(registry.add(graph_with_hash(9)) == 1);
  REQUIRE(registry.add(graph_with_hash(7)) == 0);
  REQUIRE(registry.graphs().size() == 2);
  REQUIRE(registry.find(GraphHash{9}) == 1);
  REQUIRE(registry.find(GraphHash{8}) == -1);
  const std::vector<GraphHash> asked = {GraphHash{8}, GraphHash{7}, GraphHash{6}};
  REQUIRE(registry.missing(asked) == std::vector{GraphHash{8}, GraphHash{6}});
}

TEST_CASE("messages of different lengths become one batch in which each row keeps its place",
          "[unit][learner]") {
  GraphRegistry registry;
  registry.add(graph_with_hash(5));
  registry.add(graph_with_hash(6));
  Unrolls one = plain_unrolls(2, 2, GraphHash{6});
  one.action = {0, 1, 2, 0};
  one.policy_version = {PolicyVersion{3}, PolicyVersion{4}};
  Unrolls two = plain_unrolls(3, 1, GraphHash{5});
  two.flags = {Unrolls::kTerminated, 0, Unrolls::kTruncated};
  two.cut = {2};
  append_plain(two.observations, 0, std::vector<float>{-1, -2}, std::vector<std::uint8_t>{0, 0, 1});
  REQUIRE(validate(one));
  REQUIRE(validate(two));

  TrainBatch batch;
  const std::vector<const Unrolls*> messages = {&one, &two};
  assemble(messages, registry, batch);

  REQUIRE(batch.decisions() == 7);
  REQUIRE(batch.observations.size() == 7 + 2 + (1 + 1));
  REQUIRE(batch.blocks.size() == 2);
  REQUIRE(batch.blocks[1].first == 4);
  REQUIRE(batch.blocks[1].steps == 3);
  REQUIRE(batch.blocks[1].streams == 1);
  REQUIRE(batch.actions == std::vector<std::int32_t>{0, 1, 2, 0, 0, 0, 0});
  REQUIRE(batch.rewards == std::vector<float>{0, 0.1F, 1, 1.1F, 0, 1, 2});
  REQUIRE(batch.terminated == std::vector<std::uint8_t>{0, 0, 0, 0, 1, 0, 0});
  REQUIRE(batch.ends == std::vector<std::uint8_t>{0, 0, 0, 0, 1, 0, 1});
  // Rows 7, 8: behind the first message; 9: behind the second; 10: its truncated episode's last.
  REQUIRE(batch.next_row == std::vector<std::uint32_t>{2, 3, 7, 8, 4, 6, 10});
  REQUIRE(batch.policy_versions[1] == PolicyVersion{3});
  REQUIRE(batch.policy_versions[2] == PolicyVersion{4});

  const auto first_global = [&](std::size_t row) { return batch.observations.globals(row)[0]; };
  REQUIRE(first_global(3) == 1010);
  REQUIRE(first_global(6) == 2000);
  REQUIRE(first_global(8) == 2010);
  REQUIRE(first_global(9) == 3000);
  REQUIRE(first_global(10) == -1);
  REQUIRE(batch.observations.mask(10)[0] == 0);
  REQUIRE(batch.observations.graph(0) == 1);
  REQUIRE(batch.observations.graph(8) == 1);
  REQUIRE(batch.observations.graph(9) == 0);

  // Used again, it forgets what it held.
  const std::vector<const Unrolls*> again = {&two};
  assemble(again, registry, batch);
  REQUIRE(batch.decisions() == 3);
  REQUIRE(batch.observations.size() == 5);
  REQUIRE(batch.next_row == std::vector<std::uint32_t>{0, 2, 4});
}

TEST_CASE("experience of another network is refused with a sentence", "[unit][learner]") {
  GraphRegistry registry;
  registry.add(graph_with_hash(5));
  model::NetworkShape shape;
  shape.slots.resize(1);
  shape.globals = 2;
  shape.actions = 3;
  REQUIRE(fits(plain_unrolls(2, 2, GraphHash{5}), shape, registry));
  const auto detail = [&](const Unrolls& unrolls) {
    const auto result = fits(unrolls, shape, registry);
    REQUIRE_FALSE(result);
    REQUIRE(result.error().code == Errc::kVersionMismatch);
    return result.error().detail;
  };
  REQUIRE(detail(plain_unrolls(2, 2, GraphHash{5}, 4)) ==
          "experience has 4 global features, the network expects 2");
  REQUIRE(detail(plain_unrolls(2, 2, GraphHash{5}, 2, 8)) ==
          "experience has 8 actions, the network expects 3");
  REQUIRE(detail(plain_unrolls(2, 2, GraphHash{1})) == "experience names 1 unknown graphs");
}

}  // namespace
}  // namespace pacml::learner

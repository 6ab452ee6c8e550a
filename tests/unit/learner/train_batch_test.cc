#include "learner/train_batch.h"

#include <memory>
#include <vector>

#include "learner/fits.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/sequence_builder.h"

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
  Sequences one = plain_sequences({2, 3}, GraphHash{6});
  one.action = {0, 1, 2, 0, 1};
  one.versions = {{PolicyVersion{3}, 1}, {PolicyVersion{4}, 3}, {PolicyVersion{6}, 1}};
  one.elapsed = {1, 2, 0.5F, 1, 3};
  Sequences two = plain_sequences({3}, GraphHash{5});
  two.flags = {Sequences::kTerminated, 0, Sequences::kTruncated};
  append_plain(two.observations, 0, std::vector<float>{-1, -2}, std::vector<std::uint8_t>{0, 0, 1});
  REQUIRE(validate(one));
  REQUIRE(validate(two));

  TrainBatch batch;
  const std::vector<const Sequences*> messages = {&one, &two};
  assemble(messages, registry, batch);

  REQUIRE(batch.decisions() == 8);
  REQUIRE(batch.observations.size() == 8 + 2 + (1 + 1));
  REQUIRE(batch.sequences == std::vector<SequenceRange>{{0, 2}, {2, 3}, {5, 3}});
  REQUIRE(batch.actions == std::vector<std::int32_t>{0, 1, 2, 0, 1, 0, 0, 0});
  REQUIRE(batch.rewards == std::vector<float>{0, 1, 0.1F, 1.1F, 2.1F, 0, 1, 2});
  REQUIRE(batch.elapsed == std::vector<float>{1, 2, 0.5F, 1, 3, 1, 1, 1});
  REQUIRE(batch.terminated == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1, 0, 0});
  REQUIRE(batch.ends == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1, 0, 1});
  // Rows 8, 9: behind the first message's sequences; 10: behind the second's; 11: its truncated
  // episode's last.
  REQUIRE(batch.next_row == std::vector<std::uint32_t>{1, 8, 3, 4, 9, 5, 7, 11});
  std::vector<std::uint64_t> versions;
  for (const PolicyVersion version : batch.policy_versions) versions.push_back(version.get());
  REQUIRE(versions == std::vector<std::uint64_t>{3, 4, 4, 4, 6, 0, 0, 0});

  const auto first_global = [&](std::size_t row) { return batch.observations.globals(row)[0]; };
  REQUIRE(first_global(1) == 1000);
  REQUIRE(first_global(3) == 1010);
  REQUIRE(first_global(7) == 2000);
  REQUIRE(first_global(8) == 2000);
  REQUIRE(first_global(9) == 3010);
  REQUIRE(first_global(10) == 3000);
  REQUIRE(first_global(11) == -1);
  REQUIRE(batch.observations.mask(11)[0] == 0);
  REQUIRE(batch.observations.graph(0) == 1);
  REQUIRE(batch.observations.graph(9) == 1);
  REQUIRE(batch.observations.graph(10) == 0);

  // Used again, it forgets what it held.
  const std::vector<const Sequences*> again = {&two};
  assemble(again, registry, batch);
  REQUIRE(batch.decisions() == 3);
  REQUIRE(batch.sequences == std::vector<SequenceRange>{{0, 3}});
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
  REQUIRE(fits(plain_sequences(2, 2, GraphHash{5}), shape, registry));
  const auto detail = [&](const Sequences& sequences) {
    const auto result = fits(sequences, shape, registry);
    REQUIRE_FALSE(result);
    REQUIRE(result.error().code == Errc::kVersionMismatch);
    return result.error().detail;
  };
  REQUIRE(detail(plain_sequences(2, 2, GraphHash{5}, 4)) ==
          "experience has 4 global features, the network expects 2");
  REQUIRE(detail(plain_sequences(2, 2, GraphHash{5}, 2, 8)) ==
          "experience has 8 actions, the network expects 3");
  REQUIRE(detail(plain_sequences(2, 2, GraphHash{1})) == "experience names 1 unknown graphs");
}

}  // namespace
}  // namespace pacml::learner

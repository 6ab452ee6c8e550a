#pragma once

#include <memory>
#include <vector>

#include "env/graph_features.h"
#include "learner/graph_registry.h"
#include "learner/train_batch.h"
#include "tests/support/catch.h"

// Batches of single messages on one graph, for tests of algorithms.
namespace pacml::learner {

inline constexpr GraphHash kOnlyGraph{5};

inline GraphRegistry one_graph() {
  GraphRegistry registry;
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->hash = kOnlyGraph;
  registry.add(graph);
  return registry;
}

inline TrainBatch batch_of(const Sequences& sequences) {
  REQUIRE(validate(sequences));
  TrainBatch batch;
  const std::vector<const Sequences*> messages = {&sequences};
  assemble(messages, one_graph(), batch);
  return batch;
}

}  // namespace pacml::learner

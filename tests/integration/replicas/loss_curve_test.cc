#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "common/rng.h"
#include "learner/impala.h"
#include "model/initialise.h"
#include "model/torch_network.h"
#include "model/torch_runtime.h"
#include "tests/support/catch.h"
#include "tests/support/gloo_groups.h"
#include "tests/support/sequence_builder.h"

// The real network over the real all-reduce: the loss curve of one learner.

namespace pacml::learner {
namespace {

constexpr int kUpdates = 40;
constexpr std::uint32_t kMessages = 4;  // of an update

const model::NetworkShape kShape{.config = {.rounds = 2,
                                            .message_width = 8,
                                            .hidden_width = 8,
                                            .node_width = 8,
                                            .graph_width = 4,
                                            .readout_width = 16},
                                 .slots = {{.node_width = 3, .edge_width = 2}},
                                 .globals = 4,
                                 .actions = 5};

GraphRegistry one_graph() {
  Rng rng{Seed{3}};
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = 6;
  graph->num_edges = 5;
  graph->node_width = kShape.graph().node_width;
  graph->edge_width = kShape.graph().edge_width;
  graph->node_features.resize(6 * 3);
  graph->edge_features.resize(5 * 2);
  for (float& value : graph->node_features) value = static_cast<float>(rng.uniform());
  for (float& value : graph->edge_features) value = static_cast<float>(rng.uniform());
  graph->edge_src = {0, 1, 2, 3, 4};
  graph->edge_dst = {1, 2, 3, 4, 5};
  graph->hash = GraphHash{5};
  GraphRegistry registry;
  registry.add(graph);
  return registry;
}

// Recorded messages: the reward is for the action that the first global feature names.
std::vector<Sequences> recorded() {
  Rng rng{Seed{1}};
  std::vector<Sequences> out;
  for (std::uint32_t m = 0; m < kUpdates * kMessages; ++m) {
    Sequences sequences = plain_sequences(5 + m % 3, 4, GraphHash{5}, 4, 5);
    set_globals(sequences.observations,
                [&](auto, auto) { return static_cast<float>(rng.uniform()); });
    for (std::size_t i = 0; i < sequences.action.size(); ++i) {
      sequences.action[i] = static_cast<std::int16_t>(rng.below(5));
      const auto right =
          static_cast<int>(5 * sequences.observations.globals(row_of(sequences, i))[0]);
      sequences.reward[i] = sequences.action[i] == right ? 1.0F : 0.0F;
    }
    for (float& log_prob : sequences.behaviour_log_prob) log_prob = -std::log(5.0F);
    for (auto& flag : sequences.flags) flag = Sequences::kTerminated;
    out.push_back(std::move(sequences));
  }
  return out;
}

struct Curve {
  std::vector<double> losses;
  std::vector<float> weights;
};

// What a replica learns whose share of each update is its rank's part of the messages.
Curve learn(const std::vector<Sequences>& messages, ReplicaGroup& group) {
  model::TorchNetwork network(kShape);
  const auto initial = model::initialise(kShape, Seed{2});
  std::copy(initial.values.begin(), initial.values.end(), network.parameters().begin());
  ImpalaConfig config;
  config.max_policy_lag = 1'000;
  Impala impala(config, network, group);
  const GraphRegistry graphs = one_graph();
  impala.set_graphs(graphs.graphs());
  Curve curve;
  for (std::size_t u = 0; u < kUpdates; ++u) {
    std::vector<const Sequences*> mine;
    for (std::size_t m = group.rank(); m < kMessages; m += group.size()) {
      mine.push_back(&messages[u * kMessages + m]);
    }
    TrainBatch batch;
    assemble(mine, graphs, batch);
    const auto report = impala.update(batch);
    if (!report || report->outcome != Outcome::kApplied) return curve;
    curve.losses.push_back(report->loss);
  }
  curve.weights = impala.snapshot().values;
  return curve;
}

// In units of the greatest loss of `one`.
double distance(const Curve& other, const Curve& one) {
  REQUIRE(one.losses.size() == kUpdates);
  REQUIRE(other.losses.size() == kUpdates);
  double unit = 0;
  double apart = 0;
  for (std::size_t u = 0; u < kUpdates; ++u) {
    REQUIRE(std::isfinite(other.losses[u]));
    unit = std::max(unit, std::abs(one.losses[u]));
    apart = std::max(apart, std::abs(other.losses[u] - one.losses[u]));
  }
  return apart / unit;
}

TEST_CASE("two learners have the loss curve of one with the same batches, within rounding",
          "[integration][replicas]") {
  // Sums of some hundred numbers in another order are a millionth apart, and so are Adam's steps
  // but where a gradient cancels or a rectified sum is all but 0, which forty updates add up. A
  // thousandth leaves room for that; a twentieth of one batch, told otherwise, goes beyond it.
  constexpr double kTolerance = 1e-3;
  model::prepare_torch_runtime();
  const auto messages = recorded();
  const Curve one = learn(messages, alone());
  std::vector<Curve> two(2);
  with_gloo(2, [&](ReplicaGroup& group) { two[group.rank()] = learn(messages, group); });
  CHECK(two[0].weights == two[1].weights);
  CHECK(two[0].losses == two[1].losses);
  CHECK(distance(two[0], one) < kTolerance);
  CHECK(one.losses.front() != one.losses.back());

  auto others = messages;
  Sequences& changed = others[kUpdates / 2 * kMessages];
  for (std::size_t i = 0; i < changed.reward.size(); i += 5) {
    changed.reward[i] = 1 - changed.reward[i];
  }
  CHECK(distance(learn(others, alone()), one) > kTolerance);
}

}  // namespace
}  // namespace pacml::learner

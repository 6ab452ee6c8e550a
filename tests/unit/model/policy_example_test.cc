#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "model/fused_policy.h"
#include "model/layout.h"
#include "model/reference_policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

struct NamedPolicy {
  std::string name;
  std::unique_ptr<Policy> policy;
};

std::vector<NamedPolicy> all_policies(const NetworkShape& shape) {
  std::vector<NamedPolicy> policies;
  policies.push_back({"reference", make_reference_policy(shape)});
  policies.push_back({"portable", make_fused_policy(shape, KernelPath::kPortable)});
  if (is_supported(KernelPath::kAvx2)) {
    policies.push_back({"avx2", make_fused_policy(shape, KernelPath::kAvx2)});
  }
  return policies;
}

// One round, message width 2, embeddings of width 1, readout of width 1, two actions.
const NetworkShape kTinyShape{NetworkConfig{1, 2, 1, 1, 1, 1}, {{2, 2}}, 2, 2};

Parameters tiny_parameters() {
  const ParameterLayout layout = make_layout(kTinyShape);
  Parameters parameters{PolicyVersion{1}, layout.hash, std::vector<float>(layout.total)};
  const auto set = [&](const char* name, std::initializer_list<float> values) {
    const std::span<float> target = view(parameters, layout, name);
    REQUIRE(target.size() == values.size());
    std::ranges::copy(values, target.begin());
  };
  set("round0.node_norm.weight", {2, 1});
  set("round0.node.weight", {1, 0});
  set("round0.node.bias", {1});
  set("round0.edge_norm.weight", {1, 1});
  set("round0.edge_norm.bias", {0.5F, 0});
  set("round0.edge.weight", {1, 0});
  set("round0.edge.bias", {-0.5F});
  set("round0.reduce_norm.weight", {1, 1});
  set("round0.reduce.weight", {4, 1});
  set("round0.reduce.bias", {0.5F});
  set("graph_norm.weight", {1, 1, 1, 1});
  set("graph.weight", {1, 0, 1, 0});
  set("graph.bias", {-1});
  set("readout.weight", {1, 2});
  set("readout.bias", {1});
  set("logits.weight", {0.5F, 7});
  set("logits.bias", {1, 0});
  set("value.weight", {-1});
  set("value.bias", {0.5F});
  return parameters;
}

// Two nodes A and B, and the edge A -> B unless `edges` is 0.
env::GraphFeaturesPtr tiny_graph(int edges) {
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = 2;
  graph->num_edges = edges;
  graph->node_width = 2;
  graph->edge_width = 2;
  graph->node_features = {3, 1, 1, 3};
  for (int e = 0; e < edges; ++e) {
    graph->edge_features.insert(graph->edge_features.end(), {2, 0});
    graph->edge_src.push_back(0);
    graph->edge_dst.push_back(1);
  }
  return graph;
}

// Globals 1, 0; only the first action is valid.
Observations tiny_batch() {
  Observations batch(plain_shape(2, 2), 1);
  const ObservationRow row = batch.row(0);
  row.globals[0] = 1;
  row.mask[0] = 1;
  return batch;
}

// A norm of two values that are 2d apart gives +-unit(d).
double unit(double d) { return d / std::sqrt(d * d + 1e-5); }

TEST_CASE("two nodes and one edge come out as computed by hand") {
  // Norms of [3, 1] and [1, 3] are [n, -n] and [-n, n], n = unit(1) = 0.999995; twice the first
  // value, plus 1, gives the node halves
  //   h_A = relu(2n + 1) = 2n + 1,   h_B = relu(-2n + 1) = 0
  // The edge's norm is [n, -n]; with 0.5 added and taken off again, e = relu(n) = n.
  // The message [2n + 1, n] has halves n + 1 apart: norm [q, -q], q = unit((n + 1) / 2);
  // reduced, relu(4q - q + 0.5). B's own message [0, 0] has norm 0: relu(0.5). Their mean is
  //   y_B = (3q + 0.5 + 0.5) / 2 = (3q + 1) / 2;   y_A = 0, no edge leads into A.
  // Mean over the nodes: (3q + 1) / 4, about 1.
  // Globals and mask: [1, 0, 1, 0] has norm [t, -t, t, -t], t = unit(0.5): g = 2t - 1, about 1.
  // Readout: z = relu((3q + 1) / 4 + 2 (2t - 1) + 1), about 4.
  // Logit of action 0: z / 2 + 1, about 3; action 1 is masked. Value: -z + 0.5, about -3.5.
  const double n = unit(1);
  const double q = unit((n + 1) / 2);
  const double t = unit(0.5);
  const double z = (3 * q + 1) / 4 + 2 * (2 * t - 1) + 1;
  REQUIRE(z == Approx(4).margin(1e-3));
  for (const auto& [name, policy] : all_policies(kTinyShape)) {
    INFO(name);
    policy->set_graphs(std::vector{tiny_graph(1)});
    policy->set_parameters(tiny_parameters());
    PolicyOutput out;
    policy->evaluate(tiny_batch(), out);
    CHECK(out.logits[0] == Approx(z / 2 + 1).margin(1e-6));
    CHECK(out.logits[1] == kMaskedLogit);
    CHECK(out.values[0] == Approx(0.5 - z).margin(1e-6));
  }
}

TEST_CASE("a node without incoming edges has a zero embedding, not its own message") {
  // As above without the edge: both nodes are zero, z = 0 + 2 (2t - 1) + 1, about 3.
  const double z = 2 * (2 * unit(0.5) - 1) + 1;
  for (const auto& [name, policy] : all_policies(kTinyShape)) {
    INFO(name);
    policy->set_graphs(std::vector{tiny_graph(0)});
    policy->set_parameters(tiny_parameters());
    PolicyOutput out;
    policy->evaluate(tiny_batch(), out);
    CHECK(out.values[0] == Approx(0.5 - z).margin(1e-6));
  }
}

TEST_CASE("parallel edges count as messages of their own") {
  // Two equal messages and the node's own: y_B = (2 (3q + 0.5) + 0.5) / 3.
  const double q = unit((unit(1) + 1) / 2);
  const double z = (6 * q + 1.5) / 6 + 2 * (2 * unit(0.5) - 1) + 1;
  for (const auto& [name, policy] : all_policies(kTinyShape)) {
    INFO(name);
    policy->set_graphs(std::vector{tiny_graph(2)});
    policy->set_parameters(tiny_parameters());
    PolicyOutput out;
    policy->evaluate(tiny_batch(), out);
    CHECK(out.values[0] == Approx(0.5 - z).margin(1e-6));
  }
}

TEST_CASE("exactly the invalid actions' logits are masked") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{1});
  const std::vector graphs{random_graph(rng, shape, 6, 8)};
  const Observations batch = random_batch(rng, shape, 40, 1);
  for (const auto& [name, policy] : all_policies(shape)) {
    INFO(name);
    policy->set_graphs(graphs);
    policy->set_parameters(random_parameters(shape, Seed{1}));
    PolicyOutput out;
    policy->evaluate(batch, out);
    for (std::size_t i = 0; i < out.logits.size(); ++i) {
      CHECK((out.logits[i] == kMaskedLogit) == (batch.masks()[i] == 0));
    }
  }
}

TEST_CASE("new weights and new graphs replace what was computed from the old") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{2});
  const std::vector first{random_graph(rng, shape, 6, 8)};
  const std::vector second{random_graph(rng, shape, 9, 5), random_graph(rng, shape, 4, 4)};
  const Observations batch = random_batch(rng, shape, 3, 1);
  const Parameters old_weights = random_parameters(shape, Seed{1});
  const Parameters new_weights = random_parameters(shape, Seed{2});
  const auto fresh = [&](const auto& graphs, const Parameters& weights) {
    const auto policy = make_fused_policy(shape);
    policy->set_graphs(graphs);
    policy->set_parameters(weights);
    PolicyOutput out;
    policy->evaluate(batch, out);
    return out.values;
  };
  const auto policy = make_fused_policy(shape);
  PolicyOutput out;
  policy->set_parameters(old_weights);
  policy->set_graphs(first);
  policy->evaluate(batch, out);
  CHECK(out.values == fresh(first, old_weights));
  policy->set_parameters(new_weights);
  policy->evaluate(batch, out);
  CHECK(out.values == fresh(first, new_weights));
  policy->set_graphs(second);
  policy->evaluate(batch, out);
  CHECK(out.values == fresh(second, new_weights));
  CHECK(fresh(second, new_weights) != fresh(first, new_weights));
}

TEST_CASE("the initial policy is close to uniform over the valid actions") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{3});
  const std::vector graphs{random_graph(rng, shape, 30, 40)};
  const auto policy = make_fused_policy(shape);
  policy->set_graphs(graphs);
  policy->set_parameters(initialise(shape, Seed{3}));
  const Observations batch = random_batch(rng, shape, 20, 1);
  PolicyOutput out;
  policy->evaluate(batch, out);
  for (std::size_t i = 0; i < out.logits.size(); ++i) {
    if (batch.masks()[i] != 0) CHECK(std::abs(out.logits[i]) < 0.1F);
  }
  for (const float value : out.values) CHECK(std::abs(value) < 0.1F);
}

}  // namespace
}  // namespace pacml::model

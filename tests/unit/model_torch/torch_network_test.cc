#include "model/torch_network.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/initialise.h"
#include "model/layout.h"
#include "model/policy.h"
#include "model/reference_policy.h"
#include "tests/support/random_network.h"
// After torch: glog defines a CHECK of its own.
#include "tests/support/catch.h"

namespace pacml::model {
namespace {

// The network of network_config.h written down again, one decision and one node at a time, with
// nothing shared between decisions: an independent statement for automatic differentiation.
class NaiveNetwork {
 public:
  NaiveNetwork(const NetworkShape& shape, const Parameters& parameters)
      : shape_(shape), layout_(make_layout(shape)) {
    for (const ParameterEntry& entry : layout_.entries) {
      at::Tensor weight = at::empty(entry.shape, at::kFloat);
      std::copy_n(parameters.values.data() + entry.offset, entry.size, weight.data_ptr<float>());
      weights_[entry.name] = weight.requires_grad_(true);
    }
  }

  // Logits [A] and value [1] of row b.
  [[nodiscard]] std::pair<at::Tensor, at::Tensor> decide(const env::ObservationBatch& batch,
                                                         std::size_t b,
                                                         const env::GraphFeatures& graph) const {
    std::vector<at::Tensor> nodes;
    for (int v = 0; v < graph.num_nodes; ++v) {
      nodes.push_back(row(graph.node_features, v, graph.node_width));
    }
    for (int r = 0; r < shape_.config.rounds; ++r) {
      const std::string round = "round" + std::to_string(r) + ".";
      std::vector<at::Tensor> next;
      for (int v = 0; v < graph.num_nodes; ++v) {
        std::vector<at::Tensor> reduced;
        const auto receive = [&](const at::Tensor& node, const at::Tensor& edge_half) {
          const at::Tensor message = at::cat({at::relu(layer(round + "node", node)), edge_half}, 0);
          reduced.push_back(at::relu(layer(round + "reduce", message)));
        };
        for (int e = 0; e < graph.num_edges; ++e) {
          if (graph.edge_dst[static_cast<std::size_t>(e)] != v) continue;
          const at::Tensor features = row(graph.edge_features, e, graph.edge_width);
          receive(nodes[static_cast<std::size_t>(graph.edge_src[static_cast<std::size_t>(e)])],
                  at::relu(layer(round + "edge", features)));
        }
        if (reduced.empty()) {
          next.push_back(at::zeros({round_output_width(shape_.config, r)}));
          continue;
        }
        receive(nodes[static_cast<std::size_t>(v)], at::zeros({shape_.config.message_width / 2}));
        next.push_back(at::stack(reduced).mean(0));
      }
      nodes = next;
    }
    std::vector<float> inputs(batch.globals(b).begin(), batch.globals(b).end());
    for (const std::uint8_t valid : batch.mask(b)) inputs.push_back(valid != 0 ? 1.0F : 0.0F);
    const at::Tensor decision = layer("graph", row(inputs, 0, static_cast<int>(inputs.size())));
    const at::Tensor hidden =
        at::relu(linear("readout", at::cat({at::stack(nodes).mean(0), decision}, 0)));
    at::Tensor logits = linear("logits", hidden);
    at::Tensor invalid = at::zeros({shape_.actions}, at::kBool);
    for (int a = 0; a < shape_.actions; ++a) {
      invalid.data_ptr<bool>()[a] = batch.mask(b)[static_cast<std::size_t>(a)] == 0;
    }
    return {logits.masked_fill(invalid, kMaskedLogit), linear("value", hidden)};
  }

  // All gradients, flat, in the layout's order.
  [[nodiscard]] std::vector<float> gradients() const {
    std::vector<float> flat(layout_.total, 0.0F);
    for (const ParameterEntry& entry : layout_.entries) {
      const at::Tensor& gradient = weights_.at(entry.name).grad();
      if (!gradient.defined()) continue;
      const at::Tensor dense = gradient.contiguous();
      std::copy_n(dense.data_ptr<float>(), entry.size, flat.data() + entry.offset);
    }
    return flat;
  }

 private:
  static at::Tensor row(const std::vector<float>& values, int index, int width) {
    at::Tensor out = at::empty({width}, at::kFloat);
    std::copy_n(values.data() + static_cast<std::ptrdiff_t>(index) * width, width,
                out.data_ptr<float>());
    return out;
  }
  [[nodiscard]] at::Tensor linear(const std::string& name, const at::Tensor& x) const {
    return at::mv(weights_.at(name + ".weight"), x) + weights_.at(name + ".bias");
  }
  [[nodiscard]] at::Tensor layer(const std::string& name, const at::Tensor& x) const {
    const at::Tensor centred = x - x.mean();
    const at::Tensor normed = centred / (centred.square().mean() + kNormEpsilon).sqrt();
    return linear(name,
                  normed * weights_.at(name + "_norm.weight") + weights_.at(name + "_norm.bias"));
  }

  NetworkShape shape_;
  ParameterLayout layout_;
  std::map<std::string, at::Tensor> weights_;
};

std::vector<float> random_floats(Rng& rng, std::size_t size) {
  std::vector<float> out(size);
  for (float& x : out) x = uniform_float(rng, -1, 1);
  return out;
}

void require_close(std::span<const float> actual, std::span<const float> expected,
                   double tolerance) {
  REQUIRE(actual.size() == expected.size());
  double scale = 1;
  for (const float x : expected) scale = std::max(scale, std::abs(static_cast<double>(x)));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    INFO("at " << i);
    REQUIRE(static_cast<double>(actual[i]) ==
            Approx(static_cast<double>(expected[i])).margin(tolerance * scale).epsilon(0));
  }
}

// A network with its weights and graphs in place.
std::unique_ptr<TorchNetwork> make_network(const NetworkShape& shape, const Parameters& parameters,
                                           const std::vector<env::GraphFeaturesPtr>& graphs) {
  auto network = std::make_unique<TorchNetwork>(shape);
  std::ranges::copy(parameters.values, network->parameters().begin());
  network->set_graphs(graphs);
  return network;
}

NetworkShape small_shape() {
  NetworkConfig config;
  config.message_width = 6;
  config.hidden_width = 7;
  config.node_width = 4;
  config.graph_width = 3;
  config.readout_width = 9;
  return {config, 3, 2, 4, 5};
}

TEST_CASE("the network's outputs equal the reference's, whatever the shape and the batch",
          "[unit][model_torch]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 6));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  NetworkShape shape = seed % 2 == 0 ? published_shape() : small_shape();
  shape.config.rounds = 1 + static_cast<int>(seed % 3);
  const Parameters parameters = random_parameters(shape, Seed{seed});
  std::vector<env::GraphFeaturesPtr> graphs;
  for (const int nodes : {1, 2, 17, 60}) {
    graphs.push_back(random_graph(rng, shape, nodes, nodes == 2 ? 0 : 2 * nodes));
  }
  const auto batch = random_batch(rng, shape, 40, graphs.size());

  const auto reference = make_reference_policy(shape);
  reference->set_graphs(graphs);
  reference->set_parameters(parameters);
  PolicyOutput expected;
  reference->evaluate(batch, expected);

  const auto network = make_network(shape, parameters, graphs);
  const auto outputs = network->forward(batch);
  REQUIRE(outputs.logits.size() == expected.logits.size());
  for (std::size_t i = 0; i < expected.logits.size(); ++i) {
    if (batch.masks()[i] == 0) {
      REQUIRE(outputs.logits[i] == kMaskedLogit);
    } else {
      REQUIRE(outputs.logits[i] == Approx(expected.logits[i]).margin(1e-5));
    }
  }
  require_close(outputs.values, expected.values, 1e-5);
}

TEST_CASE("gradients equal those of a naive forward that shares nothing between decisions",
          "[unit][model_torch]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 4));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  const NetworkShape shape = small_shape();
  const Parameters parameters = random_parameters(shape, Seed{seed});
  const std::vector<env::GraphFeaturesPtr> graphs = {
      random_graph(rng, shape, 5, 8), random_graph(rng, shape, 3, 0),
      random_graph(rng, shape, 7, 12), random_graph(rng, shape, 4, 4)};
  // The last graph is given, but no decision names it.
  const auto batch = random_batch(rng, shape, 12, graphs.size() - 1);
  const auto logit_gradients =
      random_floats(rng, batch.size() * static_cast<std::size_t>(shape.actions));
  const auto value_gradients = random_floats(rng, batch.size());

  const NaiveNetwork naive(shape, parameters);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const auto [logits, value] =
        naive.decide(batch, b, *graphs[static_cast<std::size_t>(batch.graph(b))]);
    at::Tensor logit_gradient = at::empty_like(logits);
    std::copy_n(logit_gradients.data() + b * batch.num_actions(), batch.num_actions(),
                logit_gradient.data_ptr<float>());
    torch::autograd::backward({logits, value}, {logit_gradient, at::full({1}, value_gradients[b])});
  }

  const auto network = make_network(shape, parameters, graphs);
  static_cast<void>(network->forward(batch));
  require_close(network->backward(logit_gradients, value_gradients), naive.gradients(), 1e-5);
}

TEST_CASE("each backward starts from zero, and what it is told of masked logits is ignored",
          "[unit][model_torch]") {
  Rng rng(Seed{1});
  const NetworkShape shape = small_shape();
  const std::vector<env::GraphFeaturesPtr> graphs = {random_graph(rng, shape, 5, 8)};
  const auto network = make_network(shape, random_parameters(shape, Seed{1}), graphs);
  const auto batch = random_batch(rng, shape, 6, 1);
  auto logit_gradients = random_floats(rng, batch.size() * static_cast<std::size_t>(shape.actions));
  const auto value_gradients = random_floats(rng, batch.size());

  static_cast<void>(network->forward(batch));
  const auto first = network->backward(logit_gradients, value_gradients);
  const std::vector<float> expected(first.begin(), first.end());
  for (std::size_t i = 0; i < logit_gradients.size(); ++i) {
    if (batch.masks()[i] == 0) logit_gradients[i] = 1e6F;
  }
  static_cast<void>(network->forward(batch));
  const auto second = network->backward(logit_gradients, value_gradients);

  REQUIRE(std::vector<float>(second.begin(), second.end()) == expected);
  REQUIRE(std::ranges::any_of(expected, [](float x) { return x != 0; }));
}

TEST_CASE("a graph without edges is embedded as zero, so that its node features do not matter",
          "[unit][model_torch]") {
  Rng rng(Seed{2});
  const NetworkShape shape = small_shape();
  const std::vector<env::GraphFeaturesPtr> graphs = {random_graph(rng, shape, 5, 0),
                                                     random_graph(rng, shape, 9, 0)};
  const auto network = make_network(shape, random_parameters(shape, Seed{2}), graphs);
  env::ObservationBatch batch(2, shape.globals, shape.actions);
  for (std::size_t b = 0; b < 2; ++b) {
    batch.row(b).graph = static_cast<std::int32_t>(b);
    std::ranges::fill(batch.row(b).globals, 0.5F);
    std::ranges::fill(batch.row(b).mask, std::uint8_t{1});
  }
  const auto outputs = network->forward(batch);
  REQUIRE(outputs.values[0] == outputs.values[1]);
  const std::vector<float> logit_gradients(outputs.logits.size(), 1.0F);
  const std::vector<float> value_gradients(2, 1.0F);
  const auto gradient = network->backward(logit_gradients, value_gradients);
  for (const ParameterEntry& entry : network->layout().entries) {
    if (!entry.name.starts_with("round")) continue;
    INFO(entry.name);
    const auto part = gradient.subspan(entry.offset, entry.size);
    REQUIRE(std::ranges::all_of(part, [](float x) { return x == 0; }));
  }
}

TEST_CASE("two nodes, by hand", "[unit][model_torch]") {
  // Node 0 -> node 1, two features each; one round, every layer one wide where it may be.
  NetworkConfig config;
  config.rounds = 1;
  config.message_width = 2;
  config.node_width = 1;
  config.graph_width = 1;
  config.readout_width = 1;
  const NetworkShape shape{config, 2, 2, 1, 2};
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = 2;
  graph->num_edges = 1;
  graph->node_width = 2;
  graph->edge_width = 2;
  graph->node_features = {1, 3, 5, 3};
  graph->edge_features = {0, 2};
  graph->edge_src = {0};
  graph->edge_dst = {1};

  const ParameterLayout layout = make_layout(shape);
  Parameters parameters{PolicyVersion{0}, layout.hash, std::vector<float>(layout.total, 0.0F)};
  const auto set = [&](const std::string& name, const std::vector<float>& values) {
    const auto target = view(parameters, layout, name);
    REQUIRE(target.size() == values.size());
    std::ranges::copy(values, target.begin());
  };
  for (const std::string name : {"round0.node_norm", "round0.edge_norm", "round0.reduce_norm"}) {
    set(name + ".weight", {1, 1});
  }
  set("graph_norm.weight", {1, 1, 1});
  // Let n = 1 / sqrt(1 + 1e-5). Features (1, 3) are normed to (-n, n), (5, 3) to (n, -n) and the
  // edge's (0, 2) to (-n, n).
  set("round0.node.weight", {0, 2});  // h_0 = 2n, h_1 = relu(-2n + 0.5) = 0
  set("round0.node.bias", {0.5F});    // h_0 = 2n + 0.5
  set("round0.edge.weight", {0, 1});  // e_01 = n + 3
  set("round0.edge.bias", {3});
  // Message 0 -> 1: (2n + 0.5, n + 3): differs by 2.5 - n, so it is normed to (-m, m) with
  // d = (2.5 - n) / 2 and m = d / sqrt(d^2 + 1e-5). Node 1 to itself: (0, 0), normed to (0, 0).
  set("round0.reduce.weight", {0, 4});  // 4m + 1 and 1
  set("round0.reduce.bias", {1});       // y_1 = (4m + 2) / 2 = 2m + 1, y_0 = 0
  // The mean over the nodes is m + 0.5. Globals and mask (7, 1, 1): normed to
  // (4, -2, -2) / sqrt(8 + 1e-5).
  set("graph.weight", {1, 0, 0});  // g = 4 / sqrt(8 + 1e-5)
  set("graph.bias", {0});
  set("readout.weight", {2, 3});  // z = 2 (m + 0.5) + 3 g - 1
  set("readout.bias", {-1});
  set("logits.weight", {1, -1});  // z, -z + 0.25
  set("logits.bias", {0, 0.25F});
  set("value.weight", {0.5F});
  set("value.bias", {10});

  const double n = 1 / std::sqrt(1 + 1e-5);
  const double d = (2.5 - n) / 2;
  const double m = d / std::sqrt(d * d + 1e-5);
  const double g = 4 / std::sqrt(8 + 1e-5);
  const double z = 2 * (m + 0.5) + 3 * g - 1;

  const auto network = make_network(shape, parameters, {graph});
  env::ObservationBatch batch(1, 1, 2);
  batch.row(0).graph = 0;
  batch.row(0).globals[0] = 7;
  std::ranges::fill(batch.row(0).mask, std::uint8_t{1});
  const auto outputs = network->forward(batch);
  REQUIRE(outputs.logits[0] == Approx(z));
  REQUIRE(outputs.logits[1] == Approx(0.25 - z));
  REQUIRE(outputs.values[0] == Approx(0.5 * z + 10));

  // Of the value alone: d/d(value.weight) = z, d/d(readout.weight) = 0.5 (m + 0.5, g), and
  // d/d(reduce.bias) = 0.5 * 2 * (1 + 1) / 2 / 2 = 0.5: both messages pass, mean of two nodes.
  const auto gradient = network->backward(std::vector<float>{0, 0}, std::vector<float>{1});
  const auto at = [&](std::string_view name) {
    const auto entry = std::ranges::find(layout.entries, name, &ParameterEntry::name);
    return gradient.subspan(entry->offset, entry->size);
  };
  REQUIRE(at("value.weight")[0] == Approx(z));
  REQUIRE(at("value.bias")[0] == Approx(1));
  REQUIRE(at("readout.weight")[0] == Approx(0.5 * (m + 0.5)));
  REQUIRE(at("readout.weight")[1] == Approx(0.5 * g));
  REQUIRE(at("round0.reduce.bias")[0] == Approx(0.5));
  REQUIRE(at("logits.weight")[0] == 0);
}

TEST_CASE("weights live in one place: written once, read back and used", "[unit][model_torch]") {
  Rng rng(Seed{3});
  const NetworkShape shape = small_shape();
  const std::vector<env::GraphFeaturesPtr> graphs = {random_graph(rng, shape, 5, 8)};
  const auto batch = random_batch(rng, shape, 3, 1);
  const Parameters one = random_parameters(shape, Seed{4});
  const Parameters two = random_parameters(shape, Seed{5});
  const auto network = make_network(shape, one, graphs);
  const auto values = [&] {
    const auto out = network->forward(batch).values;
    return std::vector<float>(out.begin(), out.end());
  };
  const auto with_one = values();
  std::ranges::copy(two.values, network->parameters().begin());
  const auto with_two = values();
  REQUIRE(with_one != with_two);
  REQUIRE(std::ranges::equal(std::as_const(*network).parameters(), two.values));
  std::ranges::copy(one.values, network->parameters().begin());
  REQUIRE(values() == with_one);
  REQUIRE(network->layout() == make_layout(shape));
}

TEST_CASE("new graphs replace the former ones", "[unit][model_torch]") {
  Rng rng(Seed{6});
  const NetworkShape shape = small_shape();
  const auto first = random_graph(rng, shape, 5, 8);
  const auto second = random_graph(rng, shape, 6, 9);
  const auto network = make_network(shape, random_parameters(shape, Seed{6}), {first});
  const auto batch = random_batch(rng, shape, 1, 1);
  const float before = network->forward(batch).values[0];
  network->set_graphs(std::vector{second});
  REQUIRE(network->forward(batch).values[0] != before);
  network->set_graphs(std::vector{second, first});
  env::ObservationBatch moved = batch;
  moved.row(0).graph = 1;
  REQUIRE(network->forward(moved).values[0] == Approx(before));
}

}  // namespace
}  // namespace pacml::model

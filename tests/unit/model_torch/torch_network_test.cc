#include "model/torch_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/initialise.h"
#include "model/layout.h"
#include "model/parallel_network.h"
#include "model/policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/rounded_network.h"
#include "tests/support/rounding.h"

namespace pacml::model {
namespace {

std::vector<float> random_floats(Rng& rng, std::size_t size) {
  std::vector<float> out(size);
  for (float& x : out) x = uniform_float(rng, -1, 1);
  return out;
}

// A network with its weights and graphs in place; on several threads, a ParallelNetwork of such.
std::unique_ptr<TrainableNetwork> make_network(const NetworkShape& shape,
                                               const Parameters& parameters,
                                               const std::vector<env::GraphFeaturesPtr>& graphs,
                                               std::size_t threads = 1) {
  std::unique_ptr<TrainableNetwork> network = std::make_unique<TorchNetwork>(shape);
  if (threads > 1) {
    std::vector<std::unique_ptr<TrainableNetwork>> networks;
    networks.push_back(std::move(network));
    while (networks.size() < threads) networks.push_back(std::make_unique<TorchNetwork>(shape));
    network = std::make_unique<ParallelNetwork>(std::move(networks));
  }
  std::ranges::copy(parameters.values, network->parameters().begin());
  network->set_graphs(graphs);
  return network;
}

// head: candidates.
NetworkShape small_candidates() { return candidates_shape(6, 3, 5, {7, 4, 5}); }

// Logits, without the masked ones, and values of each decision.
Expected expected_outputs(const NetworkShape& shape, const Parameters& parameters,
                          const std::vector<env::GraphFeaturesPtr>& graphs,
                          const Observations& batch) {
  return expected_within_rounding([&](Rounding& rounding) {
    RoundedNetwork network(shape, parameters, rounding);
    const bool is_dense = shape.config.head == HeadKind::kDense;
    std::vector<RoundedNetwork::Vars> embeddings;
    for (const auto& graph : graphs) {
      if (is_dense) embeddings.push_back(network.embed(*graph));
    }
    std::vector<double> out;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const auto decision =
          is_dense ? network.decide(batch, b, embeddings[static_cast<std::size_t>(batch.graph(b))])
                   : network.decide_row(batch, b, graphs);
      for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
        if (batch.mask(b)[a] != 0) out.push_back(network.at(decision.logits[a]));
      }
      out.push_back(network.at(decision.value));
    }
    return out;
  });
}

TEST_CASE("the network's outputs are right but for rounding, whatever the shape and the batch",
          "[unit][model_torch]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 10));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  NetworkShape shape = seed % 2 == 0 ? published_shape() : small_shape();
  shape.config.rounds = 1 + static_cast<int>(seed % 3);
  if (seed == 6) shape = small_candidates();
  if (seed == 7) shape = candidates_shape(40, 11, 17);
  if (seed == 8) shape = candidates_shape(3, 1, 1, {1, 1, 1});
  if (seed == 9) shape = varying_candidates_shape(100, 30, 12, {64, 32, 64});
  const Parameters parameters = random_parameters(shape, Seed{seed});
  std::vector<env::GraphFeaturesPtr> graphs;
  for (const int nodes : {1, 2, 5, 14}) {
    graphs.push_back(random_graph(rng, shape, nodes, nodes == 2 ? 0 : 2 * nodes));
  }
  const auto batch = random_batch(rng, shape, 40, graphs.size());

  const auto network = make_network(shape, parameters, graphs, 1 + seed % 3);
  const auto outputs = network->forward(batch);
  REQUIRE(outputs.logits.size() == batch.size() * batch.num_candidates());
  std::vector<float> actual;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    for (std::size_t a = 0; a < batch.num_candidates(); ++a) {
      const float logit = outputs.logits[b * batch.num_candidates() + a];
      if (a < batch.mask(b).size() && batch.mask(b)[a] != 0) {
        actual.push_back(logit);
      } else {
        REQUIRE(logit == kMaskedLogit);
      }
    }
    actual.push_back(outputs.values[b]);
  }
  REQUIRE(worst_error(actual, expected_outputs(shape, parameters, graphs, batch)) <= 1);
}

TEST_CASE("what encoders say of graphs is right but for rounding, and so are its gradients",
          "[unit][model_torch]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 40));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  const NetworkShape shape = seed % 3 == 2 ? perceptron_shape(rng, 6) : encoders_shape(rng, 6);
  const Parameters parameters = random_parameters(shape, Seed{seed});
  const auto graphs = random_graphs(rng, shape, 6);
  const auto batch = random_batch(rng, shape, 6, graphs);
  const auto network = make_network(shape, parameters, graphs);
  const auto outputs = network->forward(batch);
  std::vector<float> actual;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
      if (batch.mask(b)[a] != 0) actual.push_back(outputs.logits[b * batch.num_candidates() + a]);
    }
    actual.push_back(outputs.values[b]);
  }
  REQUIRE(worst_error(actual, expected_outputs(shape, parameters, graphs, batch)) <= 1);

  const auto logit_gradients = random_floats(rng, batch.size() * batch.num_candidates());
  const auto value_gradients = random_floats(rng, batch.size());
  const auto expected = expected_within_rounding([&](Rounding& rounding) {
    RoundedNetwork rounded(shape, parameters, rounding);
    std::vector<RoundedNetwork::Decision> decisions;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      decisions.push_back(rounded.decide_row(batch, b, graphs));
    }
    return rounded.gradients(decisions, batch, logit_gradients, value_gradients);
  });
  REQUIRE(worst_error(network->backward(logit_gradients, value_gradients), expected) <= 1);
}

// A loss on a small network, and what its gradient should be.
struct GradientCase {
  explicit GradientCase(std::uint64_t seed, const NetworkShape& network_shape = small_shape())
      : rng(Seed{seed}),
        shape(network_shape),
        parameters(random_parameters(shape, Seed{seed})),
        // The last graph is given, but no decision names it.
        graphs{random_graph(rng, shape, 5, 8), random_graph(rng, shape, 3, 0),
               random_graph(rng, shape, 7, 12), random_graph(rng, shape, 4, 4)},
        batch(random_batch(rng, shape, 12, graphs.size() - 1)),
        logit_gradients(random_floats(rng, batch.size() * batch.num_candidates())),
        value_gradients(random_floats(rng, batch.size())),
        expected(expected_within_rounding([this](Rounding& rounding) {
          RoundedNetwork network(shape, parameters, rounding);
          std::vector<RoundedNetwork::Decision> decisions;
          for (std::size_t b = 0; b < batch.size(); ++b) {
            decisions.push_back(network.decide_row(batch, b, graphs));
          }
          return network.gradients(decisions, batch, logit_gradients, value_gradients);
        })) {}

  Rng rng;
  NetworkShape shape;
  Parameters parameters;
  std::vector<env::GraphFeaturesPtr> graphs;
  Observations batch;
  std::vector<float> logit_gradients, value_gradients;
  Expected expected;
};

TEST_CASE("gradients are right but for rounding, though decisions share graphs",
          "[unit][model_torch]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 20));
  INFO("seed " << seed);
  const GradientCase the(seed, seed < 8    ? small_shape()
                               : seed < 16 ? small_candidates()
                                           : varying_candidates_shape(6, 3, 5, {7, 4, 5}));
  const std::size_t threads = GENERATE(1, 3, 50);  // the last: more than decisions
  INFO(threads << " threads");
  const auto network = make_network(the.shape, the.parameters, the.graphs, threads);
  static_cast<void>(network->forward(the.batch));
  const auto gradient = network->backward(the.logit_gradients, the.value_gradients);
  REQUIRE(worst_error(gradient, the.expected) <= 1);
}

TEST_CASE("where the value is held, outputs and gradients are as if it had been found",
          "[unit][model_torch]") {
  const GradientCase the(
      GENERATE(range<std::uint64_t>(0, 6)),
      GENERATE(small_candidates(), varying_candidates_shape(6, 3, 5, {7, 4, 5}), small_shape()));
  Parameters parameters = the.parameters;
  const ParameterLayout layout = make_layout(the.shape);
  float bias = 0;
  for (const ParameterEntry& entry : layout.entries) {
    const auto weights = std::span(parameters.values).subspan(entry.offset, entry.size);
    if (entry.name == "value.weight") std::ranges::fill(weights, 0.0F);
    if (entry.name == "value.bias") bias = weights.front();
  }
  const std::size_t threads = GENERATE(1, 3);
  const auto finds = make_network(the.shape, parameters, the.graphs, threads);
  const auto holds = make_network(the.shape, parameters, the.graphs, threads);
  holds->hold_value();
  const auto found = finds->forward(the.batch);
  const auto held = holds->forward(the.batch);
  CHECK(std::ranges::equal(found.logits, held.logits));
  CHECK(std::ranges::equal(found.values, held.values));
  CHECK(std::ranges::count(held.values, bias) == std::ssize(held.values));
  // The least of gradients for the value, so that one of them goes through all of its layers.
  std::vector<float> next_to_none(the.batch.size(), 0.0F);
  next_to_none.front() = std::numeric_limits<float>::denorm_min();
  const auto expected = finds->backward(the.logit_gradients, next_to_none);
  const auto actual =
      holds->backward(the.logit_gradients, std::vector<float>(the.batch.size(), 0.0F));
  for (const ParameterEntry& entry : layout.entries) {
    INFO(entry.name);
    const bool is_value = entry.name.starts_with("value.");
    CHECK((is_value || std::ranges::equal(expected.subspan(entry.offset, entry.size),
                                          actual.subspan(entry.offset, entry.size))));
  }
  // What was said of a single row stays as it was, too, when weights change.
  Observations one;
  one.restart_as(the.batch);
  one.append_row(the.batch, 0);
  const auto said = holds->forward(one).values;
  for (float& weight : holds->parameters()) weight += 1;
  CHECK(said.front() == bias);
}

TEST_CASE("a gradient that is wrong in one place is found out, whichever the place",
          "[unit][model_torch]") {
  const GradientCase the(1, GENERATE(small_shape(), small_candidates()));
  const auto network = make_network(the.shape, the.parameters, the.graphs);
  static_cast<void>(network->forward(the.batch));
  const auto gradient = network->backward(the.logit_gradients, the.value_gradients);
  double square = 0;
  for (const float x : gradient) square += static_cast<double>(x) * x;
  const double typical = std::sqrt(square / static_cast<double>(gradient.size()));
  const auto found_out = [&](std::size_t at, double wrong) {
    const float right = std::exchange(gradient[at], static_cast<float>(wrong));
    const bool found = worst_error(gradient, the.expected) > 1;
    gradient[at] = right;
    return found;
  };
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    INFO("at " << i);
    REQUIRE(found_out(i, gradient[i] + 1e-3 * typical));
    if (gradient[i] == 0) continue;
    REQUIRE(found_out(i, 0));
    REQUIRE(found_out(i, -gradient[i]));
    REQUIRE(found_out(i, std::nan("")));
  }
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
  Observations batch(input_shape(shape), 2);
  for (std::size_t b = 0; b < 2; ++b) {
    batch.row(b).graph[0] = static_cast<std::uint16_t>(b);
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
  const NetworkShape shape{config, {{2, 2}}, 1, 2};
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
  Observations batch(plain_shape(1, 2), 1);
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

TEST_CASE("some rows of a batch that was prepared are as if they were all there is",
          "[unit][model_torch]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 9));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  NetworkShape shape = small_shape();
  if (seed % 3 == 1) {
    shape = small_candidates();
    shape.candidates_vary = seed % 2 == 1;
  }
  if (seed % 3 == 2) shape = seed == 5 ? perceptron_shape(rng, 12) : encoders_shape(rng, 12);
  const auto graphs = random_graphs(rng, shape, 12);
  const Observations batch = random_batch(rng, shape, 20, graphs);
  const Parameters parameters = random_parameters(shape, Seed{seed});
  const auto network = make_network(shape, parameters, graphs, 1 + seed % 2);
  network->prepare(batch);
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{33}}) {
    std::vector<std::uint32_t> rows;
    Observations part(batch.shape());
    part.set_graphs(batch.graphs());
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back(static_cast<std::uint32_t>(rng.below(batch.size())));
      part.append_row(batch, rows.back());
    }
    const auto logit_gradients =
        random_floats(rng, count * static_cast<std::size_t>(shape.actions));
    const auto value_gradients = random_floats(rng, count);
    const auto all_of = [&](const TrainableNetwork::Outputs& outputs) {
      std::vector<float> out(outputs.logits.begin(), outputs.logits.end());
      out.insert(out.end(), outputs.values.begin(), outputs.values.end());
      const auto gradient = network->backward(logit_gradients, value_gradients);
      out.insert(out.end(), gradient.begin(), gradient.end());
      return out;
    };
    const auto expected = expected_within_rounding([&](Rounding& rounding) {
      RoundedNetwork rounded(shape, parameters, rounding);
      std::vector<RoundedNetwork::Decision> decisions;
      for (std::size_t b = 0; b < count; ++b) {
        decisions.push_back(rounded.decide_row(part, b, graphs));
      }
      std::vector<double> out;
      for (std::size_t b = 0; b < count; ++b) {
        const auto mask = part.mask(b);
        for (std::size_t a = 0; a < part.num_candidates(); ++a) {
          const bool is_valid = a < mask.size() && mask[a] != 0;
          out.push_back(is_valid ? rounded.at(decisions[b].logits[a]) : double{kMaskedLogit});
        }
      }
      for (const auto& decision : decisions) out.push_back(rounded.at(decision.value));
      const auto gradient = rounded.gradients(decisions, part, logit_gradients, value_gradients);
      out.insert(out.end(), gradient.begin(), gradient.end());
      return out;
    });
    REQUIRE(worst_error(all_of(network->forward(part)), expected) <= 1);
    REQUIRE(worst_error(all_of(network->forward_rows(rows)), expected) <= 1);
  }
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
  Observations moved = batch;
  moved.row(0).graph[0] = 1;
  REQUIRE(network->forward(moved).values[0] == Approx(before));
}

}  // namespace
}  // namespace pacml::model

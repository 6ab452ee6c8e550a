#include "model/fused_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/layout.h"
#include "model/reference_policy.h"
#include "tests/support/catch.h"
#include "tests/support/exact_output.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

std::vector<KernelPath> paths() {
  std::vector<KernelPath> paths{KernelPath::kPortable};
  if (is_supported(KernelPath::kAvx2)) paths.push_back(KernelPath::kAvx2);
  return paths;
}

// Every path on the same random case.
void check_paths(const NetworkShape& shape, Seed seed, std::size_t batch_size,
                 const std::vector<env::GraphFeaturesPtr>& graphs) {
  Rng rng(seed);
  const Parameters parameters = random_parameters(shape, seed);
  const Observations batch = random_batch(rng, shape, batch_size, graphs.size());
  const ExactOutput exact = exact_output(shape, parameters, graphs, batch);
  for (const KernelPath path : paths()) {
    INFO("path " << static_cast<int>(path));
    const auto policy = make_fused_policy(shape, path);
    policy->set_graphs(graphs);
    policy->set_parameters(parameters);
    PolicyOutput said;
    policy->evaluate(batch, said);
    CHECK(largest_difference(said, exact.said) <= exact.tolerance);
  }
}

NetworkShape random_shape(Rng& rng) {
  const auto draw = [&](std::uint64_t max) { return static_cast<int>(1 + rng.below(max)); };
  NetworkShape shape;
  shape.config = {draw(3), 2 * draw(20), draw(70), draw(40), draw(20), draw(70)};
  shape.slots = {{draw(11), draw(11)}};
  shape.globals = static_cast<int>(rng.below(20));
  shape.actions = draw(33);
  return shape;
}

TEST_CASE("one network for all candidates equals the reference whatever the widths and batches") {
  Rng rng(Seed{13});
  const auto draw = [&rng](std::uint64_t most) { return 1 + static_cast<int>(rng.below(most)); };
  for (int trial = 0; trial < 60; ++trial) {
    NetworkShape shape =
        candidates_shape(draw(250), draw(40), draw(40), {draw(80), draw(40), draw(80)});
    shape.candidates_vary = trial % 2 == 1;
    const std::vector graphs{random_graph(rng, shape, 3, 3)};
    check_paths(shape, Seed{static_cast<std::uint64_t>(trial)}, static_cast<std::size_t>(draw(200)),
                graphs);
  }
}

TEST_CASE("where the value has no weights it is the bias, and logits are the reference's") {
  Rng rng(Seed{14});
  const NetworkShape shape = candidates_shape(30, 12, 7, {20, 10, 20});
  const std::vector graphs{random_graph(rng, shape, 3, 3)};
  Parameters parameters = random_parameters(shape, Seed{14});
  float bias = 0;
  for (const ParameterEntry& entry : make_layout(shape).entries) {
    const auto weights = std::span(parameters.values).subspan(entry.offset, entry.size);
    if (entry.name == "value.weight") std::ranges::fill(weights, 0.0F);
    if (entry.name == "value.bias") bias = weights.front();
  }
  const Observations batch = random_batch(rng, shape, 50, graphs.size());
  const auto run = [&](Policy& policy, const Parameters& weights) {
    policy.set_graphs(graphs);
    policy.set_parameters(weights);
    PolicyOutput out;
    policy.evaluate(batch, out);
    return out;
  };
  const ExactOutput exact = exact_output(shape, parameters, graphs, batch);
  // Other weights are not taken for these.
  const Parameters others = random_parameters(shape, Seed{15});
  const ExactOutput exact_of_others = exact_output(shape, others, graphs, batch);
  for (const KernelPath path : paths()) {
    const auto policy = make_fused_policy(shape, path);
    const PolicyOutput actual = run(*policy, parameters);
    CHECK(largest_difference(actual.logits, exact.said.logits) <= exact.tolerance);
    CHECK(actual.values == std::vector<float>(batch.size(), bias));
    CHECK(largest_difference(run(*policy, others), exact_of_others.said) <=
          exact_of_others.tolerance);
  }
}

TEST_CASE("encoders equal the reference whatever decisions show") {
  Rng rng(Seed{19});
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    const NetworkShape shape = trial % 3 == 2 ? perceptron_shape(rng, 50) : encoders_shape(rng, 50);
    const auto graphs = random_graphs(rng, shape, 30);
    const Parameters parameters = random_parameters(shape, Seed{trial});
    const Observations batch = random_batch(rng, shape, 1 + rng.below(50), graphs);
    const ExactOutput exact = exact_output(shape, parameters, graphs, batch);
    for (const KernelPath path : paths()) {
      const auto fused = make_fused_policy(shape, path);
      fused->set_graphs(graphs);
      fused->set_parameters(random_parameters(shape, Seed{1000 + trial}));
      PolicyOutput actual;
      fused->evaluate(batch, actual);  // with other weights, whose embeddings must be forgotten
      fused->set_parameters(parameters);
      fused->evaluate(batch, actual);
      CHECK(largest_difference(actual, exact.said) <= exact.tolerance);
    }
  }
}

TEST_CASE("a weight that is wrong in one place is found out, whichever the place") {
  const NetworkShape shape = GENERATE(candidates_shape(6, 3, 5, {7, 4, 5}), small_shape());
  Rng rng(Seed{7});
  const std::vector graphs{random_graph(rng, shape, 5, 8), random_graph(rng, shape, 7, 12)};
  const Observations batch = random_batch(rng, shape, 30, graphs.size());
  Parameters parameters = random_parameters(shape, Seed{7});
  const ExactOutput exact = exact_output(shape, parameters, graphs, batch);
  const auto policy = make_reference_policy(shape);
  policy->set_graphs(graphs);
  std::size_t heard = 0;
  for (std::size_t i = 0; i < parameters.values.size(); ++i) {
    INFO("at " << i);
    const float right = std::exchange(parameters.values[i], parameters.values[i] + 0.1F);
    policy->set_parameters(parameters);
    PolicyOutput wrong;
    policy->evaluate(batch, wrong);
    parameters.values[i] = right;
    const double difference = largest_difference(wrong, exact.said);
    if (difference == 0) continue;  // behind what none of these decisions switches on
    ++heard;
    CHECK(difference > exact.tolerance);
  }
  CHECK(heard > parameters.values.size() / 2);
}

TEST_CASE("what a network says of a candidate does not depend on the rest of the batch") {
  Rng rng(Seed{17});
  const NetworkShape shape =
      GENERATE(candidates_shape(30, 5, 9), varying_candidates_shape(30, 5, 9));
  const std::vector graphs{random_graph(rng, shape, 3, 3)};
  const auto policy = make_fused_policy(shape);
  policy->set_graphs(graphs);
  policy->set_parameters(random_parameters(shape, Seed{1}));
  const Observations batch = random_batch(rng, shape, 100, 1);
  PolicyOutput all;
  policy->evaluate(batch, all);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    Observations alone(batch.shape());
    alone.append_row(batch, b);
    PolicyOutput out;
    policy->evaluate(alone, out);
    REQUIRE(out.values[0] == all.values[b]);
    for (std::size_t a = 0; a < 9; ++a) REQUIRE(out.logits[a] == all.logits[b * 9 + a]);
  }
}

TEST_CASE("the fused policy equals the reference on graphs of the published sizes") {
  const NetworkShape shape = published_shape();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng(Seed{seed});
    const std::vector graphs{random_graph(rng, shape, 114, 142), random_graph(rng, shape, 40, 60),
                             random_graph(rng, shape, 7, 3)};
    check_paths(shape, Seed{seed}, 9, graphs);
  }
}

TEST_CASE("the fused policy equals the reference whatever the widths") {
  Rng rng(Seed{11});
  for (int trial = 0; trial < 60; ++trial) {
    const NetworkShape shape = random_shape(rng);
    const int nodes = static_cast<int>(1 + rng.below(20));
    const int edges = static_cast<int>(rng.below(40));
    const std::vector graphs{random_graph(rng, shape, nodes, edges)};
    INFO("trial " << trial);
    const Seed seed{rng.next()};
    check_paths(shape, seed, 1 + rng.below(4), graphs);
  }
}

TEST_CASE("the fused policy equals the reference at every batch size") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{12});
  const std::vector graphs{random_graph(rng, shape, 3, 2), random_graph(rng, shape, 2, 1)};
  for (const std::size_t size : {1, 2, 3, 5, 8, 11, 12, 13, 24, 25, 64, 257}) {
    INFO("batch of " << size);
    check_paths(shape, Seed{size}, size, graphs);
  }
}

TEST_CASE("the fused policy equals the reference on graphs without edges and with one node") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{13});
  const std::vector graphs{random_graph(rng, shape, 1, 0), random_graph(rng, shape, 5, 0),
                           random_graph(rng, shape, 1, 3)};
  check_paths(shape, Seed{13}, 6, graphs);
}

TEST_CASE("a decision's outputs do not depend on the batch it is in") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{14});
  const std::vector graphs{random_graph(rng, shape, 20, 30), random_graph(rng, shape, 9, 9)};
  const Observations batch = random_batch(rng, shape, 30, graphs.size());
  for (const KernelPath path : paths()) {
    const auto policy = make_fused_policy(shape, path);
    policy->set_graphs(graphs);
    policy->set_parameters(random_parameters(shape, Seed{14}));
    PolicyOutput together;
    policy->evaluate(batch, together);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      Observations single(batch.shape());
      single.append_row(batch, b);
      PolicyOutput alone;
      policy->evaluate(single, alone);
      CHECK(alone.values[0] == together.values[b]);
      const auto first = together.logits.begin() + static_cast<std::ptrdiff_t>(b) * shape.actions;
      CHECK(std::equal(alone.logits.begin(), alone.logits.end(), first));
    }
  }
}

TEST_CASE("weights that are no numbers are heard wherever the reference hears them") {
  const std::uint64_t seed = GENERATE(range<std::uint64_t>(0, 12));
  const KernelPath path = GENERATE(from_range(paths()));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  NetworkShape shape = random_shape(rng);
  if (seed % 3 == 1) shape = encoders_shape(rng, 9);
  if (seed % 3 == 2) shape = perceptron_shape(rng, 9);
  const auto graphs = random_graphs(rng, shape, 12);
  const Observations batch = random_batch(rng, shape, 8, graphs);
  const ParameterLayout layout = make_layout(shape);
  const auto reference = make_reference_policy(shape);
  const auto fused = make_fused_policy(shape, path);
  const auto is_sound_with = [&](Policy& policy, const Parameters& parameters) {
    policy.set_graphs(graphs);
    policy.set_parameters(parameters);
    PolicyOutput out;
    policy.evaluate(batch, out);
    return is_sound(out);
  };
  for (const ParameterEntry& entry : layout.entries) {
    INFO(entry.name);
    Parameters parameters = random_parameters(shape, Seed{seed});
    std::ranges::fill(view(parameters, layout, entry.name),
                      std::numeric_limits<float>::quiet_NaN());
    REQUIRE(is_sound_with(*fused, parameters) == is_sound_with(*reference, parameters));
  }
}

TEST_CASE("the order of a graph's edges does not matter") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{15});
  const env::GraphFeaturesPtr graph = random_graph(rng, shape, 12, 20);
  auto reversed = std::make_shared<env::GraphFeatures>(*graph);
  std::ranges::reverse(reversed->edge_src);
  std::ranges::reverse(reversed->edge_dst);
  for (std::size_t e = 0; e < 20; ++e) {
    for (std::size_t i = 0; i < 2; ++i) {
      reversed->edge_features[2 * e + i] = graph->edge_features[2 * (19 - e) + i];
    }
  }
  Observations batch = random_batch(rng, shape, 2, 1);
  std::ranges::copy(batch.globals(0), batch.row(1).globals.begin());
  std::ranges::copy(batch.mask(0), batch.row(1).mask.begin());
  batch.row(1).graph[0] = 1;
  const std::vector<env::GraphFeaturesPtr> graphs{graph, reversed};
  const Parameters parameters = random_parameters(shape, Seed{15});
  const double tolerance = exact_output(shape, parameters, graphs, batch).tolerance;
  for (const KernelPath path : paths()) {
    const auto policy = make_fused_policy(shape, path);
    policy->set_graphs(graphs);
    policy->set_parameters(parameters);
    PolicyOutput out;
    policy->evaluate(batch, out);
    CHECK(std::abs(double{out.values[0]} - double{out.values[1]}) <= tolerance);
  }
}

}  // namespace
}  // namespace pacml::model

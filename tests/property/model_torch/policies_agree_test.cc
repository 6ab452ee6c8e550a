#include <cstddef>
#include <memory>
#include <vector>

#include "model/fused_policy.h"
#include "model/torch_policy.h"
#include "tests/support/catch.h"
#include "tests/support/exact_output.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

// Of a network with these random weights: each says what double precision does, within rounding.
void require_agreement(const NetworkShape& shape, Seed seed,
                       const std::vector<env::GraphFeaturesPtr>& graphs,
                       const std::vector<Observations>& batches) {
  const Parameters parameters = random_parameters(shape, seed);
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::make_unique<TorchPolicy>(shape));
  for (const KernelPath path : {KernelPath::kAvx2, KernelPath::kPortable}) {
    if (is_supported(path)) policies.push_back(make_fused_policy(shape, path));
  }
  for (const auto& policy : policies) {
    policy->set_graphs(graphs);
    policy->set_parameters(parameters);
  }
  for (const Observations& batch : batches) {
    const ExactOutput exact = exact_output(shape, parameters, graphs, batch);
    for (std::size_t i = 0; i < policies.size(); ++i) {
      PolicyOutput without_values;
      PolicyOutput said;
      policies[i]->evaluate_logits(batch, without_values);
      policies[i]->evaluate(batch, said);
      REQUIRE(largest_difference(said, exact.said) <= exact.tolerance);
      // What actors compute is the same with values and without.
      REQUIRE((i == 0 || without_values.logits == said.logits));
    }
  }
}

// The promise that actors and learner compute the same network: random graphs, weights, widths and
// batch sizes, on every kernel that this machine has.
TEST_CASE("the fused policy and LibTorch agree but for rounding", "[property][model_torch]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 25));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  NetworkShape shape = published_shape();
  if (seed % 3 == 1) shape.config.rounds = 1 + static_cast<int>(rng.below(3));
  if (seed % 3 == 2) {
    shape.slots = {{1 + static_cast<int>(rng.below(9)), 1 + static_cast<int>(rng.below(9))}};
    shape.globals = 1 + static_cast<int>(rng.below(40));
    shape.actions = 1 + static_cast<int>(rng.below(40));
  }
  if (seed % 5 == 4) {
    const auto draw = [&rng](std::uint64_t most) { return 1 + static_cast<int>(rng.below(most)); };
    shape = candidates_shape(draw(250), draw(40), draw(40), {draw(80), draw(40), draw(80)});
    shape.candidates_vary = seed % 2 == 1;
  }
  std::vector<env::GraphFeaturesPtr> graphs;
  for (std::uint64_t g = 0; g < 1 + seed % 6; ++g) {
    const int nodes = 1 + static_cast<int>(rng.below(150));
    const int edges = static_cast<int>(rng.below(static_cast<std::uint64_t>(3 * nodes)));
    graphs.push_back(random_graph(rng, shape, nodes, edges));
  }
  std::vector<Observations> batches;
  for (const std::size_t size : {std::size_t{1}, 1 + rng.below(300)}) {
    batches.push_back(random_batch(rng, shape, size, graphs.size()));
  }
  require_agreement(shape, Seed{seed}, graphs, batches);
}

TEST_CASE("they agree on whatever graphs decisions show", "[property][model_torch]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 60));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  const NetworkShape shape = seed % 3 == 2 ? perceptron_shape(rng, 40) : encoders_shape(rng, 40);
  const auto graphs = random_graphs(rng, shape, 40);
  std::vector<Observations> batches;
  for (const std::size_t size : {std::size_t{1}, 1 + rng.below(60)}) {
    batches.push_back(random_batch(rng, shape, size, graphs));
  }
  require_agreement(shape, Seed{seed}, graphs, batches);
}

}  // namespace
}  // namespace pacml::model

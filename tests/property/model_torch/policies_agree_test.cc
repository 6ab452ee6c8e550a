#include <span>
#include <vector>

#include "model/fused_policy.h"
#include "model/torch_policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

// Of a network with these random weights.
void require_agreement(const NetworkShape& shape, KernelPath path, Seed seed,
                       std::span<const env::GraphFeaturesPtr> graphs,
                       const std::vector<Observations>& batches) {
  const Parameters parameters = random_parameters(shape, seed);
  const auto fused = make_fused_policy(shape, path);
  TorchPolicy torch(shape);
  for (Policy* policy : {fused.get(), static_cast<Policy*>(&torch)}) {
    policy->set_graphs(graphs);
    policy->set_parameters(parameters);
  }
  for (const Observations& batch : batches) {
    PolicyOutput a;
    PolicyOutput b;
    // Without values the logits are the same.
    fused->evaluate_logits(batch, b);
    fused->evaluate(batch, a);
    REQUIRE(b.logits == a.logits);
    torch.evaluate(batch, b);
    REQUIRE(a.logits.size() == b.logits.size());
    for (std::size_t i = 0; i < a.logits.size(); ++i) {
      REQUIRE(a.logits[i] == Approx(b.logits[i]).margin(1e-5).epsilon(1e-5));
    }
    REQUIRE(a.values.size() == b.values.size());
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      REQUIRE(a.values[i] == Approx(b.values[i]).margin(1e-5).epsilon(1e-5));
    }
  }
}

// The promise that actors and learner compute the same network: random graphs, weights, widths and
// batch sizes, on every kernel that this machine has.
TEST_CASE("the fused policy and LibTorch agree within 1e-5", "[property][model_torch]") {
  const auto path = GENERATE(KernelPath::kAvx2, KernelPath::kPortable);
  if (!is_supported(path)) return;
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
  require_agreement(shape, path, Seed{seed}, graphs, batches);
}

TEST_CASE("they agree on whatever graphs decisions show", "[property][model_torch]") {
  const auto path = GENERATE(KernelPath::kAvx2, KernelPath::kPortable);
  if (!is_supported(path)) return;
  const auto seed = GENERATE(range<std::uint64_t>(0, 60));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  const NetworkShape shape = seed % 3 == 2 ? perceptron_shape(rng, 40) : encoders_shape(rng, 40);
  const auto graphs = random_graphs(rng, shape, 40);
  std::vector<Observations> batches;
  for (const std::size_t size : {std::size_t{1}, 1 + rng.below(60)}) {
    batches.push_back(random_batch(rng, shape, size, graphs));
  }
  require_agreement(shape, path, Seed{seed}, graphs, batches);
}

}  // namespace
}  // namespace pacml::model

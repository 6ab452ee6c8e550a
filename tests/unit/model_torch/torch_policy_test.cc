#include "model/torch_policy.h"

#include <vector>

#include "model/reference_policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

void require_equal_policies(Policy& actual, Policy& expected, const Observations& batch) {
  PolicyOutput a;
  PolicyOutput e;
  actual.evaluate(batch, a);
  expected.evaluate(batch, e);
  REQUIRE(a.logits.size() == e.logits.size());
  REQUIRE(a.values.size() == e.values.size());
  for (std::size_t i = 0; i < e.logits.size(); ++i) {
    REQUIRE(a.logits[i] == Approx(e.logits[i]).margin(1e-5));
  }
  for (std::size_t i = 0; i < e.values.size(); ++i) {
    REQUIRE(a.values[i] == Approx(e.values[i]).margin(1e-5));
  }
}

TEST_CASE("the torch policy follows its weights and graphs as the reference does",
          "[unit][model_torch]") {
  Rng rng(Seed{11});
  const NetworkShape shape = published_shape();
  TorchPolicy policy(shape);
  const auto reference = make_reference_policy(shape);
  std::vector<env::GraphFeaturesPtr> graphs = {random_graph(rng, shape, 30, 40),
                                               random_graph(rng, shape, 3, 2)};
  const auto give = [&](Seed seed) {
    const Parameters parameters = random_parameters(shape, seed);
    policy.set_parameters(parameters);
    reference->set_parameters(parameters);
  };
  policy.set_graphs(graphs);
  reference->set_graphs(graphs);
  give(Seed{1});
  require_equal_policies(policy, *reference, random_batch(rng, shape, 9, graphs.size()));
  // Embeddings are kept between batches, and must not outlive the weights or the graphs.
  require_equal_policies(policy, *reference, random_batch(rng, shape, 1, graphs.size()));
  give(Seed{2});
  require_equal_policies(policy, *reference, random_batch(rng, shape, 5, graphs.size()));
  graphs.insert(graphs.begin(), random_graph(rng, shape, 12, 20));
  policy.set_graphs(graphs);
  reference->set_graphs(graphs);
  require_equal_policies(policy, *reference, random_batch(rng, shape, 20, graphs.size()));
}

TEST_CASE("an empty batch has empty outputs", "[unit][model_torch]") {
  const NetworkShape shape = published_shape();
  TorchPolicy policy(shape);
  PolicyOutput out;
  out.logits = {1};
  out.values = {1};
  policy.evaluate(Observations(input_shape(shape)), out);
  REQUIRE(out.logits.empty());
  REQUIRE(out.values.empty());
}

}  // namespace
}  // namespace pacml::model

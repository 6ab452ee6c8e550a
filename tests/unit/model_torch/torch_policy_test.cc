#include "model/torch_policy.h"

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/exact_output.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

TEST_CASE("the torch policy follows its weights and graphs as the reference does",
          "[unit][model_torch]") {
  Rng rng(Seed{11});
  const NetworkShape shape = published_shape();
  TorchPolicy policy(shape);
  std::vector<env::GraphFeaturesPtr> graphs = {random_graph(rng, shape, 30, 40),
                                               random_graph(rng, shape, 3, 2)};
  Parameters parameters;
  const auto give = [&](Seed seed) {
    parameters = random_parameters(shape, seed);
    policy.set_parameters(parameters);
  };
  const auto require_exact = [&](std::size_t size) {
    const Observations batch = random_batch(rng, shape, size, graphs.size());
    const ExactOutput exact = exact_output(shape, parameters, graphs, batch);
    PolicyOutput said;
    policy.evaluate(batch, said);
    REQUIRE(largest_difference(said, exact.said) <= exact.tolerance);
  };
  policy.set_graphs(graphs);
  give(Seed{1});
  require_exact(9);
  // Embeddings are kept between batches, and must not outlive the weights or the graphs.
  require_exact(1);
  give(Seed{2});
  require_exact(5);
  graphs.insert(graphs.begin(), random_graph(rng, shape, 12, 20));
  policy.set_graphs(graphs);
  require_exact(20);
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

#include <cstddef>
#include <vector>

#include "model/fused_policy.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

using testing::allocations;

TEST_CASE("evaluate allocates nothing once it has seen a batch size") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{1});
  const std::vector graphs{random_graph(rng, shape, 30, 40), random_graph(rng, shape, 50, 60)};
  const auto policy = make_fused_policy(shape);
  policy->set_graphs(graphs);
  const Observations large = random_batch(rng, shape, 64, graphs.size());
  const Observations small = random_batch(rng, shape, 3, graphs.size());
  PolicyOutput out;
  policy->set_parameters(random_parameters(shape, Seed{1}));
  policy->evaluate(large, out);
  policy->set_parameters(random_parameters(shape, Seed{2}));

  const std::size_t before = allocations;
  policy->evaluate(large, out);  // embeds the graphs again
  policy->evaluate(small, out);
  policy->evaluate(large, out);
  const std::size_t after = allocations;
  CHECK(after == before);
  CHECK(before > 0);
}

TEST_CASE("nor does it where decisions are about nodes of graphs that change") {
  for (const HeadKind head : {HeadKind::kCandidates, HeadKind::kPerceptron}) {
    for (const EncoderKind kind :
         {EncoderKind::kDeepSet, EncoderKind::kMessagePassing, EncoderKind::kTwoWay}) {
      CAPTURE(static_cast<int>(head), static_cast<int>(kind));
      NetworkShape shape = candidates_shape(head == HeadKind::kCandidates ? 3 : 0, 2, 4);
      shape.slots = {{5, 2, 1, true, EncoderConfig{.slot = "graph", .kind = kind, .blocks = 1}}};
      shape.config.head = head;
      if (head == HeadKind::kPerceptron) shape.view = nullptr;
      Rng rng(Seed{1});
      const auto graphs = random_graphs(rng, shape, 20);
      const auto policy = make_fused_policy(shape);
      policy->set_graphs(graphs);
      policy->set_parameters(random_parameters(shape, Seed{1}));
      const Observations seen = random_batch(rng, shape, 64, graphs);
      const Observations other = random_batch(rng, shape, 64, graphs);
      PolicyOutput out;
      policy->evaluate(seen, out);

      const std::size_t before = allocations;
      policy->evaluate(other, out);
      const std::size_t after = allocations;
      CHECK(after == before);
    }
  }
}

}  // namespace
}  // namespace pacml::model

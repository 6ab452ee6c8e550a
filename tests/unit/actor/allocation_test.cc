#include <cstddef>
#include <memory>
#include <variant>

#include "actor/actor_loop.h"
#include "actor/apex_behaviour.h"
#include "model/fused_policy.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/random_network.h"

namespace pacml::actor {
namespace {

using testing::allocations;

// Never ends and allocates nothing.
class Endless final : public env::Environment {
 public:
  Endless() {
    spec_.observation = plain_spec(1, 2);
    auto graph = std::make_shared<env::GraphFeatures>();
    graph->num_nodes = 1;
    graph->node_width = graph->edge_width = 1;
    graph->node_features = {1};
    spec_.graphs = {graph};
  }
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed) override {}
  [[nodiscard]] env::StepResult step(int) override { return {.reward = 1}; }
  void observe(Observations& out) const override {
    const ObservationRow row = out.append();
    row.globals[0] = 0.5F;
    row.mask[0] = row.mask[1] = 1;
  }
  [[nodiscard]] std::unique_ptr<env::Environment> clone() const override {
    return std::make_unique<Endless>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return false; }
  [[nodiscard]] EpisodeRecord summary() const override { return {}; }

 private:
  env::EnvironmentSpec spec_;
};

// Allocations of one message, once everything has its size.
std::size_t allocations_of_a_message(std::int64_t steps) {
  const ActorConfig config{.environments = 8, .unroll_length = steps};
  const auto make = [] { return std::make_unique<Endless>(); };
  const auto spec = make()->spec();
  const model::NetworkShape shape = model::make_shape({}, spec);
  const auto policy = model::make_fused_policy(shape);
  ActorLoop loop(
      config, make, *policy,
      std::make_unique<ApexBehaviour>(spec, config, NstepConfig{},
                                      EpsilonGreedy(std::vector<double>(8, 0.5), 2, Seed{1}),
                                      *policy, model::ValueHeads::kDuelling),
      Seed{1});
  loop.set_parameters(model::random_parameters(shape, Seed{1}));
  for (int m = 0; m < 3; ++m) static_cast<void>(loop.run_message());
  const std::size_t before = allocations;
  const auto message = loop.run_message();
  const std::size_t after = allocations;
  CHECK(std::get<PrioritizedTransitions>(message).transitions.size() ==
        8 * static_cast<std::size_t>(steps));
  return after - before;
}

TEST_CASE("an actor of Ape-X allocates for a message, not for a step", "[unit][actor]") {
  CHECK(allocations_of_a_message(200) == allocations_of_a_message(10));
  // The next message's heads, four columns of observations, their graphs and shape, priorities.
  CHECK(allocations_of_a_message(200) <= 8);
}

}  // namespace
}  // namespace pacml::actor

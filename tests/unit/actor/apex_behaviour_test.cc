#include "actor/apex_behaviour.h"

#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actor/actor_loop.h"
#include "model/duelling.h"
#include "model/fused_policy.h"
#include "model/reference_policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/signal_chain.h"

namespace pacml::actor {
namespace {

constexpr int kEpisodeLimit = 3;
constexpr ActorConfig kConfig{.environments = 4, .unroll_length = 25};
constexpr NstepConfig kNstep{.n_step = 2, .discount = 0.9};

std::unique_ptr<env::Environment> make_chain() {
  return std::make_unique<env::SignalChain>(kEpisodeLimit);
}

model::NetworkShape small_shape() { return model::smallest_shape(make_chain()->spec()); }

model::Parameters weights() {
  auto parameters = model::random_parameters(small_shape(), Seed{5});
  parameters.version = PolicyVersion{3};
  return parameters;
}

std::vector<PrioritizedTransitions> act(const std::vector<double>& epsilons, int messages,
                                        Seed seed = Seed{1}) {
  const auto policy = model::make_fused_policy(small_shape());
  ActorLoop loop(kConfig, make_chain, *policy,
                 std::make_unique<ApexBehaviour>(make_chain()->spec(), kConfig, kNstep,
                                                 EpsilonGreedy(epsilons, 1, seed), *policy,
                                                 model::ValueHeads::kDuelling),
                 seed);
  loop.set_parameters(weights());
  std::vector<PrioritizedTransitions> out;
  for (int m = 0; m < messages; ++m) {
    out.push_back(std::get<PrioritizedTransitions>(loop.run_message()));
  }
  return out;
}

// The states of a message's transitions as a batch, and what the reference network says of them.
struct Evaluated {
  Observations states;
  model::PolicyOutput output;
  std::vector<float> q;

  Evaluated(const Transitions& t, bool next)
      : states(t.observations.shape()), q(t.size() * t.observations.num_candidates()) {
    for (std::size_t i = 0; i < t.size(); ++i) {
      states.append_row(t.observations, next ? Transitions::next_state(i) : Transitions::state(i));
    }
    const auto policy = model::make_reference_policy(small_shape());
    policy->set_graphs(make_chain()->spec().graphs);
    policy->set_parameters(weights());
    policy->evaluate(states, output);
    model::duelling_q_values(output.logits, output.values, states.masks(), states.num_candidates(),
                             q);
  }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span(q).subspan(i * states.num_candidates(), states.num_candidates());
  }
};

TEST_CASE("first priorities are the errors that the actor's own network makes", "[unit][actor]") {
  std::size_t truncated = 0;
  std::size_t terminated = 0;
  for (const auto& [t, priorities, episodes] : act({0.5, 0.5, 0.5, 0.5}, 4)) {
    REQUIRE(validate(t));
    const Evaluated now(t, false);
    const Evaluated later(t, true);
    for (std::size_t i = 0; i < t.size(); ++i) {
      const auto head = t.heads[i];
      REQUIRE(head.policy_version == PolicyVersion{3});
      const float q = now.row(i)[static_cast<std::size_t>(head.action)];
      const auto q_later = later.row(i);
      const float best = q_later[static_cast<std::size_t>(model::best_valid_action(q_later))];
      REQUIRE(priorities[i] ==
              Approx(std::abs(head.n_step_return + head.discount * best - q)).margin(1e-4));
      terminated += head.discount == 0 ? 1U : 0U;
      truncated += head.discount != 0 && head.discounted_time == 1 ? 1U : 0U;
    }
  }
  CHECK(truncated > 10);
  CHECK(terminated > 10);
}

TEST_CASE("without random actions an actor takes the greatest value, with only them any",
          "[unit][actor]") {
  // By state: how often each action was taken, greedily and at random.
  const auto disagreements = [](double epsilon) {
    std::pair<std::size_t, std::size_t> wrong_of_all;
    for (const auto& message : act(std::vector(4, epsilon), 4)) {
      const Evaluated now(message.transitions, false);
      for (std::size_t i = 0; i < message.transitions.size(); ++i) {
        const int action = message.transitions.heads[i].action;
        if (action != model::best_valid_action(now.row(i))) ++wrong_of_all.first;
        ++wrong_of_all.second;
      }
    }
    return wrong_of_all;
  };
  CHECK(disagreements(0).first == 0);
  const auto [wrong, all] = disagreements(1);
  CHECK(wrong > all / 3);
  CHECK(wrong < all * 3 / 4);
}

TEST_CASE("each environment explores by its own share", "[unit][actor]") {
  // Those of share 0 and those of share 1 would be told apart by a writer that mixes them up.
  const auto greedy = act({0, 0, 0, 0}, 2);
  const auto mixed = act({0, 1, 0, 0}, 2);
  CHECK_FALSE(greedy == mixed);
  std::size_t wrong = 0;
  std::size_t all = 0;
  for (const auto& message : mixed) {
    const Evaluated now(message.transitions, false);
    for (std::size_t i = 0; i < message.transitions.size(); ++i) {
      const int action = message.transitions.heads[i].action;
      wrong += action != model::best_valid_action(now.row(i)) ? 1U : 0U;
      ++all;
    }
  }
  CHECK(wrong > 0);
  CHECK(wrong < all / 4);
}

TEST_CASE("what an actor of Ape-X does is a function of its seed", "[unit][actor]") {
  const std::vector<double> epsilons = {0.4, 0.2, 0.1, 0};
  const auto first = act(epsilons, 4, Seed{8});
  CHECK(act(epsilons, 4, Seed{8}) == first);
  CHECK_FALSE(act(epsilons, 4, Seed{9}) == first);
}

TEST_CASE("every decision but the last few has come after some messages", "[unit][actor]") {
  std::size_t rows = 0;
  for (const auto& message : act({0.4, 0.2, 0.1, 0}, 5)) rows += message.transitions.size();
  constexpr std::size_t kDecisions = 5 * 4 * 25;
  CHECK(rows <= kDecisions);
  CHECK(rows >= kDecisions - 4 * 2);
}

}  // namespace
}  // namespace pacml::actor

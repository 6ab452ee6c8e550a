#include "actor/expert_behaviour.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actor/actor_loop.h"
#include "model/fused_policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/signal_chain.h"

namespace pacml::actor {
namespace {

constexpr int kNever = 1'000'000;
constexpr double kDiscount = 0.9;
constexpr ActorConfig kConfig{.environments = 6, .unroll_length = 20};

std::unique_ptr<env::Environment> make_chain() {
  return std::make_unique<env::SignalChain>(kNever);
}

model::NetworkShape small_shape() { return model::smallest_shape(make_chain()->spec()); }

// The place is what the only 1 among the globals says.
int place_of(const Observations& observations, std::size_t row) {
  int place = 0;
  while (observations.globals(row)[static_cast<std::size_t>(place)] == 0) ++place;
  return place;
}

// Always forward, which is best; expects nothing beyond the horizon.
class Forward final : public planning::RolloutPolicy {
 public:
  void act(std::span<const env::Environment* const> environments, std::span<int> actions) override {
    for (std::size_t i = 0; i < environments.size(); ++i) {
      Observations row = environments[i]->spec().make_observations();
      environments[i]->observe(row);
      actions[i] = row.graph(0);
    }
  }
  void evaluate(std::span<const env::Environment* const> /*environments*/,
                std::span<double> values) override {
    for (double& value : values) value = 0;
  }
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& /*environment*/) override {
    return std::nullopt;
  }
};

// The same, once something is done that is told how many are asked about.
class ForwardAfter final : public planning::RolloutPolicy {
 public:
  explicit ForwardAfter(std::function<void(std::size_t)> before) : before_(std::move(before)) {}
  void act(std::span<const env::Environment* const> environments, std::span<int> actions) override {
    before_(environments.size());
    forward_.act(environments, actions);
  }
  void evaluate(std::span<const env::Environment* const> environments,
                std::span<double> values) override {
    forward_.evaluate(environments, values);
  }
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& environment) override {
    return forward_.log_probabilities(environment);
  }

 private:
  std::function<void(std::size_t)> before_;
  Forward forward_;
};

// Its weights say nothing so many times.
std::unique_ptr<planning::RolloutPolicy> forward_unless_broken(int& broken) {
  return std::make_unique<ForwardAfter>([&broken](std::size_t /*asked*/) {
    if (broken == 0) return;
    --broken;
    throw model::UnsoundOutput();
  });
}

std::vector<Sequences> act(const ExpertConfig& expert, int messages, Seed seed = Seed{1}) {
  const auto policy = model::make_fused_policy(small_shape());
  ActorLoop loop(kConfig, make_chain, *policy,
                 std::make_unique<ExpertBehaviour>(make_chain()->spec(), kConfig, expert,
                                                   std::make_unique<Forward>(), seed),
                 seed);
  auto weights = model::random_parameters(small_shape(), Seed{5});
  weights.version = PolicyVersion{3};
  loop.set_parameters(weights);
  std::vector<Sequences> out;
  for (int m = 0; m < messages; ++m) out.push_back(std::get<Sequences>(loop.run_message()));
  return out;
}

constexpr ExpertConfig kExpert{.futures = 3,
                               .horizon = 2 * env::SignalChain::kLength,
                               .first_versions = 0,
                               .discount = kDiscount};

TEST_CASE("what an actor's searches find is what the actions are worth", "[unit][actor]") {
  std::size_t decoys = 0;
  for (const Sequences& s : act(kExpert, 3)) {
    REQUIRE(validate(s));
    auto value = s.action_values.begin();
    std::size_t row = 0;
    for (const std::uint32_t length : s.lengths) {
      for (std::uint32_t t = 0; t < length; ++t, ++row) {
        const int place = place_of(s.observations, row);
        const int coin = s.observations.graph(row);
        const auto mask = s.observations.mask(row);
        for (int a = 0; a < 3; ++a) {
          if (mask[static_cast<std::size_t>(a)] == 0) continue;
          INFO("place " << place << ", coin " << coin << ", action " << a);
          const auto best = [](int p) { return env::SignalChain::best_value(p, kDiscount); };
          double worth = a == coin ? best(place) : kDiscount * best(place > 0 ? place - 1 : 0);
          if (a == env::SignalChain::kDecoyAction) {
            worth = env::SignalChain::kDecoy;
            ++decoys;
          }
          CHECK(*value++ == Approx(worth));
        }
      }
      ++row;
    }
    CHECK(value == s.action_values.end());
  }
  CHECK(decoys > 0);
}

TEST_CASE("however many futures there are, so many worlds are there at once", "[unit][actor]") {
  constexpr ActorConfig kMany{.environments = 20, .unroll_length = 1};
  ExpertConfig expert = kExpert;
  expert.futures = 1'000;
  std::size_t most = 0;
  const auto policy = model::make_fused_policy(small_shape());
  ActorLoop loop(
      kMany, make_chain, *policy,
      std::make_unique<ExpertBehaviour>(make_chain()->spec(), kMany, expert,
                                        std::make_unique<ForwardAfter>([&most](std::size_t asked) {
                                          most = std::max(most, asked);
                                        }),
                                        Seed{1}),
      Seed{1});
  loop.set_parameters(model::random_parameters(small_shape(), Seed{5}));
  const Sequences s = std::get<Sequences>(loop.run_message());
  CHECK(most > 4'000);
  CHECK(most < 8'200);
  REQUIRE(s.action_values.size() >= 40);
  for (const float value : s.action_values) CHECK(value > 0);  // each was played
}

TEST_CASE("an expert's actor follows the policy but for a share of random actions",
          "[unit][actor]") {
  const double share = GENERATE(0.0, 0.4, 1.0);
  ExpertConfig expert = kExpert;
  expert.exploration = share;
  expert.futures = 1;
  expert.horizon = 1;
  std::size_t decisions = 0;
  double surprises = 0;  // over what log-probabilities promise
  double promised = 0;
  for (const Sequences& s : act(expert, 10)) {
    auto log_probability = s.behaviour_log_prob.begin();
    std::size_t row = 0;
    for (const std::uint32_t length : s.lengths) {
      for (std::uint32_t t = 0; t < length; ++t, ++row) {
        const double probability = std::exp(double{*log_probability++});
        CHECK((probability > 0 && probability <= 1 + 1e-6));
        if (share == 1) {  // each valid action is as likely as another
          CHECK(probability == Approx(1 / static_cast<double>(s.observations.num_valid(row))));
        }
        ++decisions;
        // A greedy action is promised more than a random one.
        surprises += probability < 0.5 * (1 - share) + 1e-9 ? 1 : 0;
        promised += probability;
      }
      ++row;  // the observation after its last decision
    }
  }
  if (share == 0) {
    CHECK(surprises == 0);
    CHECK(promised == Approx(static_cast<double>(decisions)));
  } else if (share < 1) {
    // Random, and not by chance the policy's: half or two thirds of the share.
    const double rate = surprises / static_cast<double>(decisions);
    CHECK(rate > 0.4 * share);
    CHECK(rate < 0.8 * share);
  }
}

TEST_CASE("the first networks' searches look further", "[unit][actor]") {
  // One decision sees nothing of the chain's end but the last step; four see all of it. The
  // weights are those of version 3.
  ExpertConfig expert = kExpert;
  expert.horizon = 1;
  expert.first_horizon = kExpert.horizon;
  const std::vector<Sequences> far = act(kExpert, 1);
  expert.first_versions = 4;
  CHECK(act(expert, 1)[0].action_values == far[0].action_values);
  expert.first_versions = 3;
  // From the first step on, as where a resumed learner hands out its weights: one decision pays
  // nothing but at the end.
  const std::vector<Sequences> near = act(expert, 1, Seed{2});
  REQUIRE(place_of(near[0].observations, 0) < env::SignalChain::kLength - 1);
  CHECK(near[0].action_values.front() == 0);
  CHECK(act(kExpert, 1, Seed{2})[0].action_values.front() > 0);
}

TEST_CASE("an actor's first searches are centred as all others", "[unit][actor]") {
  ExpertConfig expert = kExpert;
  const Sequences plain = act(expert, 1)[0];
  expert.centre_rewards = true;
  const Sequences centred = act(expert, 1)[0];
  // Whoever always goes forward gets the end's reward within four decisions.
  REQUIRE(plain.action_values.size() == centred.action_values.size());
  for (std::size_t i = 0; i < plain.action_values.size(); ++i) {
    CHECK(centred.action_values[i] < plain.action_values[i] - 0.2F);
  }
}

TEST_CASE("weights that say nothing in an imagined state give way to those before them",
          "[unit][actor]") {
  int broken = 0;
  const auto policy = model::make_fused_policy(small_shape());
  ActorLoop loop(kConfig, make_chain, *policy,
                 std::make_unique<ExpertBehaviour>(make_chain()->spec(), kConfig, kExpert,
                                                   forward_unless_broken(broken), Seed{1}),
                 Seed{1});
  auto weights = model::random_parameters(small_shape(), Seed{5});
  const auto give = [&](std::uint64_t version) {
    weights.version = PolicyVersion{version};
    loop.set_parameters(weights);
  };
  give(3);
  SECTION("where there are none, it is an error") {
    broken = 1;
    CHECK_THROWS_WITH(static_cast<void>(loop.run_message()), Catch::Contains("diverged"));
  }
  SECTION("where there are some") {
    static_cast<void>(loop.run_message());
    give(4);
    broken = 1;
    const auto sequences = std::get<Sequences>(loop.run_message());
    REQUIRE(validate(sequences));
    REQUIRE(sequences.versions.size() == 1);
    CHECK(sequences.versions[0].version == PolicyVersion{3});
    CHECK(loop.refused_weights() == 1);
  }
  SECTION("where those say nothing either, it is an error") {
    static_cast<void>(loop.run_message());
    give(4);
    broken = 2;
    CHECK_THROWS_WITH(static_cast<void>(loop.run_message()), Catch::Contains("diverged"));
  }
}

TEST_CASE("what an expert's actor sends is a function of its seed", "[unit][actor]") {
  CHECK(act(kExpert, 2) == act(kExpert, 2));
  CHECK(act(kExpert, 2) != act(kExpert, 2, Seed{2}));
}

TEST_CASE("an expert that cannot look ahead is refused by name", "[unit][actor]") {
  ExpertConfig config;
  CHECK(validate(config).empty());
  config.futures = 0;
  config.horizon = 20'000;
  config.first_horizon = -1;
  config.first_versions = -1;
  config.discount = 0;
  config.exploration = std::numeric_limits<double>::quiet_NaN();
  CHECK(validate(config) ==
        std::vector<std::string>{
            "futures: must be in 1..1000", "horizon: must be in 1..10000",
            "first_horizon: must be in 1..10000", "first_versions: must be in 0..1000000000",
            "discount: must be greater than 0 and at most 1", "exploration: must be from 0 to 1"});
  config = {};
  config.centre_rewards = true;
  config.horizon = 1;
  CHECK(validate(config).size() == 1);
}

}  // namespace
}  // namespace pacml::actor

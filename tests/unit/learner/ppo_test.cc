#include "learner/ppo.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/tabular_network.h"
#include "tests/support/train_batches.h"
#include "tests/support/update_report.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kStates = 8;
constexpr int kActions = 3;

// One decision in each of so many environments, all in state 0; action 2 pays 1, the others
// nothing.
Sequences one_step(std::uint32_t environments) {
  Sequences sequences = plain_sequences(1, environments, GraphHash{5}, 1, kActions);
  set_globals(sequences.observations, [](auto, auto) { return 0.0F; });
  for (std::uint32_t b = 0; b < environments; ++b) {
    sequences.action[b] = static_cast<std::int16_t>(b % kActions);
    sequences.reward[b] = b % kActions == 2 ? 1.0F : 0.0F;
    sequences.behaviour_log_prob[b] = -std::log(3.0F);
    sequences.flags[b] = Sequences::kTerminated;
  }
  return sequences;
}

PpoConfig small_config() {
  PpoConfig config;
  config.learning_rate.start = 0.01;
  config.entropy_cost.start = 0;
  config.minibatch_decisions = 4;
  config.max_policy_lag = 2;
  return config;
}

double probability(const model::TabularNetwork& network, std::size_t action) {
  const auto weights = network.parameters();
  double sum = 0;
  for (std::size_t a = 0; a < kActions; ++a) sum += std::exp(double{weights[a]});
  return std::exp(double{weights[action]}) / sum;
}

TEST_CASE("one update of PPO prefers what paid, and goes no further than the clip",
          "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  PpoConfig config = small_config();
  config.epochs = 100;
  Ppo ppo(config, network, Seed{1});
  const auto report = ppo.update(batch_of(one_step(30))).value();
  REQUIRE(report.outcome == Outcome::kApplied);
  CHECK(report.decisions == 30);
  CHECK(report.stale == 0);
  const double preferred = probability(network, 2);
  // 100 passes of eight steps would go on to certainty; the clip is at 1.2 / 3, and Adam
  // overshoots.
  CHECK(preferred > 0.39);
  CHECK(preferred < 0.55);
  CHECK(scalar(report, "clipped") > 0);
  CHECK(ppo.version() == PolicyVersion{1});
  CHECK(ppo.snapshot().version == PolicyVersion{1});

  model::TabularNetwork unbounded_network(kStates, 1, kActions);
  config.clip = 1e6;
  Ppo unbounded(config, unbounded_network, Seed{1});
  REQUIRE(unbounded.update(batch_of(one_step(30))).value().outcome == Outcome::kApplied);
  CHECK(probability(unbounded_network, 2) > 0.9);
}

TEST_CASE("PPO's values come to what follows", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Ppo ppo(small_config(), network, Seed{1});
  const TrainBatch batch = batch_of(one_step(30));
  // On the same batch again and again the mean return is a third.
  for (int i = 0; i < 200; ++i) {
    Sequences sequences = one_step(30);
    set_version(sequences, ppo.version().get());
    REQUIRE(ppo.update(batch_of(sequences)).value().outcome == Outcome::kApplied);
  }
  const auto weights = ppo.snapshot().values;
  CHECK(weights[kStates * kActions] + weights.back() == Approx(1.0 / 3).margin(0.1));
}

TEST_CASE("rewards that are centred leave nothing of what every decision pays", "[unit][learner]") {
  PpoConfig config = small_config();
  config.discount = 0.999;
  config.centre_rewards = true;
  model::TabularNetwork network(kStates, 1, kActions);
  Ppo ppo(config, network, Seed{1});
  Sequences sequences = plain_sequences(50, 4, GraphHash{5}, 1, kActions);
  set_globals(sequences.observations, [](auto, auto) { return 0.0F; });
  for (std::size_t i = 0; i < sequences.reward.size(); ++i) {
    sequences.reward[i] = -7;
    sequences.behaviour_log_prob[i] = -std::log(3.0F);
  }
  const auto report = ppo.update(batch_of(sequences)).value();
  CHECK(scalar(report, "reward_rate") == Approx(-7));
  CHECK(scalar(report, "value_target") == Approx(0).margin(1e-4));
  config.centre_rewards = false;
  Ppo plain(config, network, Seed{1});
  CHECK(scalar(plain.update(batch_of(sequences)).value(), "value_target") < -10);
}

TEST_CASE("with lambda 0 PPO looks one decision ahead, and no further", "[unit][learner]") {
  // In state 0 action 0 pays 1 and action 1 nothing; then comes state 1 for both, which pays what
  // it happens to: 10 less behind action 0, and 10 more behind action 1.
  Sequences sequences = plain_sequences(2, 2, kOnlyGraph, 1, kActions);
  for (std::size_t row = 0; row < sequences.observations.size(); ++row) {
    sequences.observations.row(row).globals[0] = row % 3 == 0 ? 0.0F : 1.0F;
  }
  sequences.action = {0, 2, 1, 2};
  sequences.reward = {1, -10, 0, 10};
  sequences.flags[1] = sequences.flags[3] = Sequences::kTerminated;
  sequences.behaviour_log_prob.assign(4, -std::log(3.0F));
  const auto prefers_what_pays_at_once = [&](double lambda) {
    PpoConfig config = small_config();
    config.lambda = lambda;
    model::TabularNetwork network(kStates, 1, kActions);
    Ppo ppo(config, network, Seed{1});
    REQUIRE(ppo.update(batch_of(sequences)).value().outcome == Outcome::kApplied);
    return probability(network, 0) > probability(network, 1);
  };
  CHECK(prefers_what_pays_at_once(0));
  CHECK_FALSE(prefers_what_pays_at_once(1));
}

TEST_CASE("PPO leaves out what is too old", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Ppo ppo(small_config(), network, Seed{1});
  for (int i = 0; i < 3; ++i) {
    Sequences sequences = one_step(6);
    set_version(sequences, ppo.version().get());
    REQUIRE(ppo.update(batch_of(sequences)).value().outcome == Outcome::kApplied);
  }
  const std::vector<float> before(network.parameters().begin(), network.parameters().end());
  const auto report = ppo.update(batch_of(one_step(6))).value();  // of version 0, three behind
  CHECK(report.outcome == Outcome::kNothingFresh);
  CHECK(report.decisions == 0);
  CHECK(report.stale == 6);
  CHECK(std::vector<float>(network.parameters().begin(), network.parameters().end()) == before);
  CHECK(ppo.version() == PolicyVersion{3});
}

TEST_CASE("weights that say no numbers are not learned from, and nothing is counted",
          "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Ppo ppo(small_config(), network, Seed{1});
  network.parameters()[0] = std::numeric_limits<float>::quiet_NaN();
  const auto report = ppo.update(batch_of(one_step(6))).value();
  CHECK(report.outcome == Outcome::kDiverged);
  CHECK(ppo.version() == PolicyVersion{0});
}

TEST_CASE("an update of PPO that diverges half way leaves weights and optimiser as they were",
          "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  PpoConfig config = small_config();
  // The greatest logits that are sound: the first step takes one beyond that.
  std::ranges::fill(network.parameters().first(kStates * kActions), -model::kMaskedLogit);
  config.learning_rate.start = 100;
  config.centre_rewards = GENERATE(false, true);
  Ppo ppo(config, network, Seed{1});
  const AlgorithmState before = ppo.save();
  const auto report = ppo.update(batch_of(one_step(30))).value();
  CHECK(report.outcome == Outcome::kDiverged);
  CHECK(ppo.save() == before);
}

TEST_CASE("PPO is a function of its batches and its seed, and goes on from where it was saved",
          "[unit][learner]") {
  PpoConfig config = small_config();
  config.centre_rewards = GENERATE(false, true);
  const auto train = [&config](Seed seed, bool interrupted) {
    auto network = std::make_unique<model::TabularNetwork>(kStates, 1, kActions);
    auto ppo = std::make_unique<Ppo>(config, *network, seed);
    for (int i = 0; i < 6; ++i) {
      if (interrupted && i == 3) {
        const AlgorithmState state = ppo->save();
        auto other = std::make_unique<model::TabularNetwork>(kStates, 1, kActions);
        ppo = std::make_unique<Ppo>(config, *other, seed);
        network = std::move(other);
        REQUIRE(ppo->restore(state));
      }
      Sequences sequences = one_step(30);
      set_version(sequences, ppo->version().get());
      REQUIRE(ppo->update(batch_of(sequences)).value().outcome == Outcome::kApplied);
    }
    return ppo->snapshot().values;
  };
  CHECK(train(Seed{1}, false) == train(Seed{1}, false));
  CHECK(train(Seed{1}, false) == train(Seed{1}, true));
  CHECK(train(Seed{1}, false) != train(Seed{2}, false));
}

TEST_CASE("PPO's checkpoints are its own", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Ppo ppo(small_config(), network, Seed{1});
  AlgorithmState state = ppo.save();
  state.algorithm = "impala";
  const auto restored = ppo.restore(state);
  REQUIRE_FALSE(restored);
  CHECK(restored.error().code == Errc::kVersionMismatch);
}

TEST_CASE("what PPO cannot work with is refused by name", "[unit][learner]") {
  PpoConfig config;
  CHECK(validate(config).empty());
  config.epochs = 0;
  config.clip = std::numeric_limits<double>::quiet_NaN();
  config.lambda = 1.5;
  CHECK(validate(config) == std::vector<std::string>{"epochs must be from 1 to 100, not 0",
                                                     "lambda must be from 0 to 1, not 1.5",
                                                     "clip must be greater than 0 and at most 1e6, "
                                                     "not nan"});
}

}  // namespace
}  // namespace pacml::learner

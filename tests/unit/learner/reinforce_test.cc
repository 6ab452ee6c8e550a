#include "learner/reinforce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "common/rng.h"
#include "learner/returns/episode_returns.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/tabular_network.h"
#include "tests/support/train_batches.h"
#include "tests/support/update_report.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kStates = 4;
constexpr int kActions = 3;
constexpr std::uint32_t kSteps = 2;

// One episode of two decisions in each of so many environments, in states 0 and 1; the second
// pays 10, and 1 more for each of the two actions that was action 2.
Sequences two_steps(std::uint32_t environments, std::uint64_t version = 0) {
  Sequences out = plain_sequences(kSteps, environments, kOnlyGraph, 1, kActions);
  for (std::size_t row = 0; row < out.observations.size(); ++row) {
    out.observations.row(row).globals[0] = static_cast<float>(row % (kSteps + 1));
  }
  for (std::size_t b = 0; b < environments; ++b) {
    const std::size_t i = b * kSteps;
    out.action[i] = static_cast<std::int16_t>(b % kActions);
    out.action[i + 1] = static_cast<std::int16_t>(b / kActions % kActions);
    const int good = (out.action[i] == 2 ? 1 : 0) + (out.action[i + 1] == 2 ? 1 : 0);
    out.reward[i] = 0;
    out.reward[i + 1] = static_cast<float>(10 + good);
    out.flags[i + 1] = Sequences::kTerminated;
  }
  set_version(out, version);
  return out;
}

ReinforceConfig small_config() {
  ReinforceConfig config;
  config.learning_rate.start = 0.05;
  config.entropy_cost.start = 0;
  config.max_policy_lag = 2;
  config.baseline_window = 18;
  return config;
}

TEST_CASE("returns are what follows until the episode ends, where it ends", "[unit][learner]") {
  Sequences sequences = plain_sequences({5, 2}, kOnlyGraph);
  sequences.reward = {1, 2, 4, 8, 16, 3, 5};
  sequences.flags = {0, 0, Sequences::kTerminated, 0, 0, 0, Sequences::kTruncated};
  sequences.elapsed = {1, 2, 1, 1, 1, 1, 1};
  sequences.observations.append_row(Observations(sequences.observations), 0);
  const EpisodeReturns out = episode_returns(batch_of(sequences), 0.5);
  CHECK(out.known == std::vector<std::uint8_t>{1, 1, 1, 0, 0, 1, 1});
  CHECK(out.returns == std::vector<float>{2.5F, 3, 4, 0, 0, 5.5F, 5});
}

TEST_CASE("a baseline is the mean of its key's last returns", "[unit][learner]") {
  constexpr std::size_t kWindow = 3;
  StepBaselines baselines(kWindow, 100);
  std::map<BaselineKey, std::vector<float>> all;
  Rng rng(Seed{1});
  for (int i = 0; i < 500; ++i) {
    const BaselineKey key{{static_cast<std::uint16_t>(rng.below(3))},
                          static_cast<std::uint32_t>(rng.below(4))};
    const auto value = static_cast<float>(rng.uniform());
    auto& returns = all[key];
    returns.push_back(value);
    double sum = 0;
    const std::size_t count = std::min(returns.size(), kWindow);
    for (std::size_t k = returns.size() - count; k < returns.size(); ++k) sum += returns[k];
    CHECK(baselines.take_in(key, value) == Approx(sum / static_cast<double>(count)));
  }
  CHECK(baselines.size() == all.size());
}

TEST_CASE("baselines that were not used for long go", "[unit][learner]") {
  StepBaselines baselines(4, 2);
  const auto at = [](std::uint32_t step) { return BaselineKey{{0}, step}; };
  CHECK(baselines.take_in(at(0), 1) == 1);
  for (std::uint32_t step = 1; step < 50; ++step) {
    static_cast<void>(baselines.take_in(at(step), 7));
    CHECK(baselines.size() <= 4);
    // Used again and again, it stays.
    CHECK(baselines.take_in(at(0), 1) == 1);
  }
  CHECK(baselines.take_in(at(1), 3) == 3);
  CHECK(baselines.take_in(at(0), 2) == Approx(1.25));
}

TEST_CASE("REINFORCE comes to prefer what paid, at every step", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Reinforce learner(small_config(), network);
  for (int i = 0; i < 50; ++i) {
    const auto report = learner.update(batch_of(two_steps(18, learner.version().get()))).value();
    REQUIRE(report.outcome == Outcome::kApplied);
    CHECK(report.decisions == 36);
    CHECK(scalar(report, "baselines") == kSteps);
    CHECK(report.unfinished == 0);
  }
  const auto weights = network.parameters();
  for (std::size_t s = 0; s < kSteps; ++s) {
    CHECK(weights[s * kActions + 2] > weights[s * kActions] + 1);
    CHECK(weights[s * kActions + 2] > weights[s * kActions + 1] + 1);
  }
}

TEST_CASE("a return that is the first of its step and graph teaches nothing", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ReinforceConfig config = small_config();
  config.advantage_scaling = AdvantageScaling::kNone;
  config.loss_reduction = LossReduction::kSum;
  Reinforce learner(config, network);
  const auto first = learner.update(batch_of(two_steps(1))).value();
  CHECK(scalar(first, "gradient_norm") == 0);
  CHECK(scalar(first, "return_to_go") == Approx(10));
  // Both returns are 1 above the first ones, and half of that above the means.
  Sequences better = two_steps(1);
  better.reward[1] = 11;
  const auto second = learner.update(batch_of(better)).value();
  // Of -0.5 log pi each: 0.5 (2/3, -1/3, -1/3), in two rows of the table.
  CHECK(scalar(second, "gradient_norm") == Approx(0.5 * std::sqrt(2 * 6.0 / 9)));
}

TEST_CASE("REINFORCE leaves out what is too old and what has no end", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Reinforce learner(small_config(), network);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(learner.update(batch_of(two_steps(9, learner.version().get()))).value().outcome ==
            Outcome::kApplied);
  }
  const std::vector<float> before(network.parameters().begin(), network.parameters().end());
  const auto old = learner.update(batch_of(two_steps(9, 0))).value();
  CHECK(old.outcome == Outcome::kNothingFresh);
  CHECK(old.stale == 18);
  Sequences endless = two_steps(9, 3);
  std::ranges::fill(endless.flags, std::uint8_t{0});
  const auto unfinished = learner.update(batch_of(endless)).value();
  CHECK(unfinished.outcome == Outcome::kNothingFresh);
  CHECK(unfinished.decisions == 0);
  CHECK(unfinished.unfinished > 0);
  CHECK(learner.update({}).value().outcome == Outcome::kNothingFresh);
  CHECK(std::vector<float>(network.parameters().begin(), network.parameters().end()) == before);
}

TEST_CASE("weights that say no numbers do not learn by REINFORCE", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Reinforce learner(small_config(), network);
  network.parameters()[0] = std::numeric_limits<float>::quiet_NaN();
  const auto report = learner.update(batch_of(two_steps(9))).value();
  CHECK(report.outcome == Outcome::kDiverged);
  CHECK(learner.version() == PolicyVersion{0});
}

TEST_CASE("REINFORCE goes on from where it was saved, with baselines anew", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Reinforce learner(small_config(), network);
  REQUIRE(learner.update(batch_of(two_steps(9))).value().outcome == Outcome::kApplied);
  model::TabularNetwork other(kStates, 1, kActions);
  Reinforce resumed(small_config(), other);
  REQUIRE(resumed.update(batch_of(two_steps(18))).value().outcome == Outcome::kApplied);
  REQUIRE(resumed.restore(learner.save()));
  CHECK(resumed.version() == PolicyVersion{1});
  CHECK(resumed.snapshot().values == learner.snapshot().values);
  model::TabularNetwork fresh_network(kStates, 1, kActions);
  Reinforce fresh(small_config(), fresh_network);
  REQUIRE(fresh.restore(learner.save()));
  REQUIRE(fresh.update(batch_of(two_steps(9, 1))).value().outcome == Outcome::kApplied);
  REQUIRE(resumed.update(batch_of(two_steps(9, 1))).value().outcome == Outcome::kApplied);
  CHECK(fresh.snapshot().values == resumed.snapshot().values);

  AlgorithmState state = learner.save();
  state.algorithm = "ppo";
  const auto refused = resumed.restore(state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kVersionMismatch);
}

}  // namespace
}  // namespace pacml::learner

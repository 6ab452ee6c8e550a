#include "learner/expert_iteration.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "learner/reward_rate.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/tabular_network.h"
#include "tests/support/train_batches.h"
#include "tests/support/update_report.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kStates = 4;
constexpr int kActions = 3;
constexpr std::array<float, kActions> kWorth = {-3, -1, -2};

// One decision of each of so many streams, in states that follow one another; in state s the action
// a is worth kWorth[a] - s, and in odd states the last action is not valid.
Sequences searched(std::uint32_t streams, std::uint64_t version = 0) {
  Sequences out = plain_sequences(1, streams, kOnlyGraph, 1, kActions);
  for (std::size_t row = 0; row < out.observations.size(); ++row) {
    const std::size_t state = row / 2 % kStates;
    out.observations.row(row).globals[0] = static_cast<float>(state);
    out.observations.row(row).mask[2] = state % 2 == 0 ? 1 : 0;
  }
  for (std::uint32_t b = 0; b < streams; ++b) {
    const std::size_t state = b % kStates;
    for (std::size_t a = 0; a < (state % 2 == 0 ? 3U : 2U); ++a) {
      out.action_values.push_back(kWorth[a] - static_cast<float>(state));
    }
  }
  set_version(out, version);
  return out;
}

ExpertIterationConfig small_config() {
  ExpertIterationConfig config;
  config.learning_rate.start = 0.02;
  config.minibatch_decisions = 16;
  config.max_policy_lag = 2;
  config.level_cost = 1;
  return config;
}

TEST_CASE("a network comes to what searches found", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ExpertIteration learner(small_config(), network, Seed{1});
  UpdateReport report;
  for (int i = 0; i < 100; ++i) {
    report = learner.update(batch_of(searched(32, learner.version().get()))).value();
    REQUIRE(report.outcome == Outcome::kApplied);
    CHECK(report.decisions == 32);
  }
  CHECK(learner.version() == PolicyVersion{100});
  CHECK(scalar(report, "agreement") == 1);
  CHECK(scalar(report, "explained_advantage") > 0.99);
  // In the unit of rewards: the value, which is the same everywhere, and the logits on top.
  const auto weights = learner.snapshot().values;
  for (std::size_t s = 0; s < kStates; ++s) {
    INFO("state " << s);
    const float* logits = weights.data() + s * kActions;
    CHECK(logits[1] - logits[0] == Approx(kWorth[1] - kWorth[0]).margin(0.05));
    if (s % 2 == 0) CHECK(logits[1] - logits[2] == Approx(kWorth[1] - kWorth[2]).margin(0.05));
    CHECK(weights[kStates * kActions + s] == 0);
    CHECK(weights.back() + logits[1] == Approx(kWorth[1] - static_cast<double>(s)).margin(0.1));
  }
}

TEST_CASE("searches with weights that are too old are left out", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ExpertIteration learner(small_config(), network, Seed{1});
  for (int i = 0; i < 3; ++i) {
    REQUIRE(learner.update(batch_of(searched(8, learner.version().get()))).value().outcome ==
            Outcome::kApplied);
  }
  const std::vector<float> before(network.parameters().begin(), network.parameters().end());
  const auto report = learner.update(batch_of(searched(8, 0))).value();
  CHECK(report.outcome == Outcome::kNothingFresh);
  CHECK(report.decisions == 0);
  CHECK(report.stale == 8);
  CHECK(std::vector<float>(network.parameters().begin(), network.parameters().end()) == before);
}

TEST_CASE("weights that say no numbers do not learn from searches", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ExpertIteration learner(small_config(), network, Seed{1});
  network.parameters()[0] = std::numeric_limits<float>::quiet_NaN();
  const auto report = learner.update(batch_of(searched(8))).value();
  CHECK(report.outcome == Outcome::kDiverged);
  CHECK(learner.version() == PolicyVersion{0});
}

TEST_CASE("an update by searches that diverges half way leaves all but the memory as it was",
          "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ExpertIterationConfig config = small_config();
  // The greatest logits that are sound: the first step takes one beyond that.
  std::ranges::fill(network.parameters().first(kStates * kActions), -model::kMaskedLogit);
  config.learning_rate.start = 100;
  config.level_cost = 0;
  const bool centred = GENERATE(false, true);
  ExpertIteration learner(config, network, Seed{1}, centred);
  const AlgorithmState before = learner.save();
  const auto report = learner.update(batch_of(searched(32))).value();
  CHECK(report.outcome == Outcome::kDiverged);
  CHECK(learner.save() == before);
}

TEST_CASE("expert iteration is a function of its batches and its seed", "[unit][learner]") {
  const auto train = [](Seed seed) {
    model::TabularNetwork network(kStates, 1, kActions);
    ExpertIteration learner(small_config(), network, seed);
    for (int i = 0; i < 5; ++i) {
      REQUIRE(learner.update(batch_of(searched(24, learner.version().get()))).value().outcome ==
              Outcome::kApplied);
    }
    return learner.snapshot().values;
  };
  CHECK(train(Seed{1}) == train(Seed{1}));
  CHECK(train(Seed{1}) != train(Seed{2}));
}

TEST_CASE("expert iteration goes on from where it was saved, with what it gathers anew",
          "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ExpertIteration learner(small_config(), network, Seed{1});
  REQUIRE(learner.update(batch_of(searched(24))).value().outcome == Outcome::kApplied);
  model::TabularNetwork other(kStates, 1, kActions);
  ExpertIteration resumed(small_config(), other, Seed{1});
  REQUIRE(resumed.restore(learner.save()));
  CHECK(resumed.version() == PolicyVersion{1});
  CHECK(resumed.snapshot().values == learner.snapshot().values);
  const auto report = resumed.update(batch_of(searched(24, 1))).value();
  REQUIRE(report.outcome == Outcome::kApplied);
  CHECK(scalar(report, "memory") == 24);

  AlgorithmState state = learner.save();
  state.algorithm = "ppo";
  const auto refused = resumed.restore(state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kVersionMismatch);
}

TEST_CASE("what rewards are on average is kept for whoever searches on, where they are centred",
          "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Sequences sequences = searched(24);
  std::ranges::fill(sequences.reward, -3.0F);
  const auto rate = [&](bool centred) {
    ExpertIteration learner(small_config(), network, Seed{1}, centred);
    REQUIRE(learner.update(batch_of(sequences)).value().outcome == Outcome::kApplied);
    ExpertIteration resumed(small_config(), network, Seed{1}, centred);
    REQUIRE(resumed.restore(learner.save()));
    return RewardRate::saved_in(resumed.save()).value();
  };
  CHECK(rate(true) == Approx(-3));
  CHECK(rate(false) == 0);
}

TEST_CASE("what the first networks found is forgotten soon", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ExpertIterationConfig config = small_config();
  config.memory_decisions = 100;
  config.memory_share = 0.5;
  ExpertIteration learner(config, network, Seed{1});
  std::vector<double> sizes;
  for (int i = 0; i < 20; ++i) {
    const auto report = learner.update(batch_of(searched(10, learner.version().get()))).value();
    REQUIRE(report.outcome == Outcome::kApplied);
    sizes.push_back(scalar(report, "memory"));
  }
  CHECK(std::vector<double>(sizes.begin(), sizes.begin() + 4) ==
        std::vector<double>{10, 10, 20, 20});
  CHECK(sizes.back() == 100);
  // Nor is the little that a resumed run has gathered kept for the decisions that it once had.
  ExpertIteration resumed(config, network, Seed{1});
  REQUIRE(resumed.restore(learner.save()));
  for (const double size : {10, 10, 20, 20}) {
    const auto report = resumed.update(batch_of(searched(10, resumed.version().get()))).value();
    CHECK(scalar(report, "memory") == size);
  }
}

TEST_CASE("a memory of searches keeps the newest, and draws each as likely", "[unit][learner]") {
  SearchMemory memory;
  constexpr std::size_t kCapacity = 10;
  const auto round = [](float first, std::size_t count) {
    const TrainBatch batch = batch_of(searched(4));
    SearchedDecisions out;
    for (std::size_t i = 0; i < count; ++i) {
      out.append(batch.observations, 1, std::vector<float>{first + static_cast<float>(i), 0});
    }
    return out;
  };
  memory.add(round(0, 4), kCapacity);
  memory.add(round(10, 4), kCapacity);
  memory.add(round(20, 4), kCapacity);
  CHECK(memory.size() == 12);  // without the oldest there would be too few
  memory.add(round(30, 4), kCapacity);
  CHECK(memory.size() == 12);
  memory.add({}, kCapacity);
  CHECK(memory.size() == 12);
  Rng rng(Seed{3});
  std::map<float, int> seen;
  SearchedDecisions drawn;
  constexpr int kDraws = 12'000;
  for (int i = 0; i < kDraws; ++i) {
    drawn.clear();
    memory.draw(rng, drawn);
    REQUIRE(drawn.size() == 1);
    REQUIRE(drawn.values(0).size() == 2);
    ++seen[drawn.values(0)[0]];
  }
  CHECK(seen.size() == 12);
  CHECK(seen.begin()->first == 10);
  for (const auto& [value, count] : seen) CHECK(count == Approx(1000).margin(200));  // 6.6 sigma
  memory.add(round(40, 100), kCapacity);
  CHECK(memory.size() == 100);
}

TEST_CASE("what expert iteration cannot work with is refused by name", "[unit][learner]") {
  ExpertIterationConfig config;
  CHECK(validate(config).empty());
  config.memory_decisions = 0;
  config.samples_per_decision = 1001;
  config.level_cost = std::numeric_limits<double>::quiet_NaN();
  CHECK(validate(config) ==
        std::vector<std::string>{"memory_decisions must be from 1 to 100000000, not 0",
                                 "samples_per_decision must be from 1 to 1000, not 1001",
                                 "level_cost must be from 0 to 1e6, not nan"});
}

}  // namespace
}  // namespace pacml::learner

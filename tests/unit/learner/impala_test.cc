#include "learner/impala.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "learner/returns/vtrace.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/tabular_network.h"
#include "tests/support/train_batches.h"
#include "tests/support/update_report.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kStates = 8;
constexpr int kActions = 3;

// States are the first global feature: t + b here.
Sequences small_sequences(std::uint32_t steps, std::uint32_t environments) {
  Sequences sequences = plain_sequences(steps, environments, GraphHash{5}, 1, kActions);
  set_globals(sequences.observations, [&](std::size_t row, auto) {
    const std::size_t t = row % (steps + 1);
    const std::size_t b = row / (steps + 1);
    return static_cast<float>(t + b);
  });
  for (float& log_prob : sequences.behaviour_log_prob) log_prob = -std::log(3.0F);
  return sequences;
}

// The published algorithm without extras.
ImpalaConfig plain_config() {
  ImpalaConfig config;
  config.advantage_scaling = AdvantageScaling::kNone;
  config.value_normalisation = ValueNormalisation::kNone;
  config.learning_rate.start = 0.01;
  config.max_policy_lag = 1000;
  return config;
}

TEST_CASE("an update lowers the error of values and prefers what paid", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ImpalaConfig config = plain_config();
  config.entropy_cost.start = 0;
  Impala impala(config, network);
  // State 0, one decision: action 2 pays 1, the others nothing.
  Sequences sequences = small_sequences(1, 3);
  set_globals(sequences.observations, [](auto, auto) { return 0.0F; });
  sequences.action = {0, 1, 2};
  sequences.reward = {0, 0, 1};
  sequences.flags.assign(3, Sequences::kTerminated);
  const TrainBatch batch = batch_of(sequences);
  for (int i = 0; i < 50; ++i) {
    const UpdateReport report = impala.update(batch).value();
    REQUIRE(report.outcome == Outcome::kApplied);
    REQUIRE(report.decisions == 3);
  }
  const auto weights = network.parameters();
  REQUIRE(weights[2] > weights[0] + 0.1F);
  REQUIRE(weights[2] > weights[1] + 0.1F);
  const float value = weights[kStates * kActions] + weights.back();
  REQUIRE(value > 0.2F);
  REQUIRE(impala.snapshot().version == PolicyVersion{50});
}

TEST_CASE("the first update's losses are the formulas' numbers", "[unit][learner]") {
  // Zero weights: pi is uniform over the valid actions, V = 0, so with V-trace on policy
  // v_0 = r_0 + gamma r_1, v_1 = r_1, and advantages are the same.
  model::TabularNetwork network(kStates, 1, kActions);
  ImpalaConfig config = plain_config();
  config.discount = 0.5;
  config.reward_scale = 2;
  config.value_cost = 0.25;
  config.entropy_cost.start = 0.1;
  Impala impala(config, network);
  Sequences sequences = small_sequences(2, 1);
  sequences.reward = {1, 3};
  sequences.observations.row(1).mask[1] = 0;  // two valid actions at t = 1
  sequences.behaviour_log_prob = {-std::log(3.0F), -std::log(2.0F)};
  const UpdateReport report = impala.update(batch_of(sequences)).value();
  const double v0 = 2 + 0.5 * 6;
  const double v1 = 6;
  REQUIRE(scalar(report, "policy_loss") ==
          Approx((v0 * std::log(3.0) + v1 * std::log(2.0)) / 2).epsilon(1e-5));
  REQUIRE(scalar(report, "value_loss") == Approx(0.25 / 2 * (v0 * v0 + v1 * v1) / 2));
  REQUIRE(scalar(report, "entropy_loss") == Approx(-0.1));  // both are at their greatest entropy
  REQUIRE(scalar(report, "entropy") == Approx(1));
  REQUIRE(scalar(report, "log_rho") == Approx(0).margin(1e-6));
  REQUIRE(report.loss == Approx(scalar(report, "policy_loss") + scalar(report, "value_loss") +
                                scalar(report, "entropy_loss")));
}

TEST_CASE("every batch counts once in the average reward", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ImpalaConfig config = plain_config();
  config.centre_rewards = true;
  Impala impala(config, network);
  const auto rate_after = [&](float reward) {
    Sequences sequences = small_sequences(3, 2);
    std::ranges::fill(sequences.reward, reward);
    set_version(sequences, impala.version().get());
    return scalar(impala.update(batch_of(sequences)).value(), "reward_rate");
  };
  CHECK(rate_after(1) == Approx(1));
  CHECK(rate_after(0) == Approx(1.0 / 2).epsilon(1e-4));
  CHECK(rate_after(0) == Approx(1.0 / 3).epsilon(1e-4));
}

TEST_CASE("a sum of losses is the mean times the decisions", "[unit][learner]") {
  const auto loss = [](LossReduction reduction) {
    model::TabularNetwork network(kStates, 1, kActions);
    ImpalaConfig config = plain_config();
    config.loss_reduction = reduction;
    return Impala(config, network).update(batch_of(small_sequences(3, 2))).value().loss;
  };
  REQUIRE(loss(LossReduction::kSum) == Approx(6 * loss(LossReduction::kMean)));
}

TEST_CASE("decisions of weights that are too old are left out and counted", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ImpalaConfig config = plain_config();
  config.max_policy_lag = 2;
  Impala impala(config, network);
  Sequences sequences = small_sequences(2, 2);
  for (std::uint64_t updates = 0; updates < 3; ++updates) {
    set_version(sequences, updates);
    REQUIRE(impala.update(batch_of(sequences)).value().stale == 0);
  }
  sequences.versions = {{PolicyVersion{0}, 1},  // lags 3 and 2
                        {PolicyVersion{1}, 1},
                        {PolicyVersion{0}, 1},
                        {PolicyVersion{1}, 1}};
  const UpdateReport report = impala.update(batch_of(sequences)).value();
  REQUIRE(report.stale == 2);
  REQUIRE(report.decisions == 2);
  REQUIRE(report.outcome == Outcome::kApplied);

  const auto before = impala.save();
  set_version(sequences, 0);
  const UpdateReport all_stale = impala.update(batch_of(sequences)).value();
  REQUIRE(all_stale.outcome == Outcome::kNothingFresh);
  REQUIRE(all_stale.stale == 4);
  REQUIRE(impala.save() == before);

  // From before the learner went back to a checkpoint, or from a peer that lies.
  sequences.versions = {{PolicyVersion{1000}, 1}, {PolicyVersion{UINT64_MAX}, 3}};
  REQUIRE(impala.update(batch_of(sequences)).value().stale == 0);
}

TEST_CASE("a gradient that is not finite skips the update", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Impala impala(plain_config(), network);
  network.parameters()[0] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> before(network.parameters().begin() + 1, network.parameters().end());
  const UpdateReport report = impala.update(batch_of(small_sequences(2, 1))).value();
  REQUIRE(report.outcome == Outcome::kDiverged);
  REQUIRE(std::ranges::equal(network.parameters().subspan(1), before));
  REQUIRE(impala.snapshot().version == PolicyVersion{0});
}

TEST_CASE("schedules follow the decisions learned from", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ImpalaConfig config = plain_config();
  config.learning_rate = {.kind = ScheduleKind::kLinear, .start = 1e-2, .end = 0, .decisions = 40};
  Impala impala(config, network);
  const TrainBatch batch = batch_of(small_sequences(5, 2));
  REQUIRE(scalar(impala.update(batch).value(), "learning_rate") == Approx(1e-2));
  REQUIRE(scalar(impala.update(batch).value(), "learning_rate") == Approx(0.75e-2));
  REQUIRE(scalar(impala.update(batch).value(), "learning_rate") == Approx(0.5e-2));
}

TEST_CASE("what values are wrong by moves no policy, however old the experience is",
          "[unit][learner]") {
  // Both actions were as likely; the second one is nearly given up since.
  Sequences sequences = small_sequences(1, 2);
  set_globals(sequences.observations, [](auto, auto) { return 0.0F; });
  sequences.action = {0, 1};
  sequences.behaviour_log_prob.assign(2, std::log(0.5F));
  sequences.flags.assign(2, Sequences::kTerminated);
  const auto policy_loss = [&sequences](std::vector<float> rewards, float value) {
    model::TabularNetwork network(kStates, 1, kActions);
    network.parameters()[0] = std::log(0.999F);
    network.parameters()[1] = std::log(0.001F);
    network.parameters()[2] = -30;
    network.parameters().back() = value;
    ImpalaConfig config = plain_config();
    config.advantage_scaling = AdvantageScaling::kBatch;
    config.vtrace.clip_rho = config.vtrace.clip_advantage = 10;  // nothing is clipped
    Impala impala(config, network);
    sequences.reward = std::move(rewards);
    return scalar(impala.update(batch_of(sequences)).value(), "policy_loss");
  };
  CHECK(policy_loss({0, 0}, 1) == Approx(0).margin(1e-3));
  CHECK(policy_loss({0, 1}, 1) == Approx(policy_loss({0, 1}, -3)));
  CHECK(std::abs(policy_loss({0, 1}, 0)) > 0.1);
}

TEST_CASE("normalised values are published in the unit of rewards", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  ImpalaConfig config = plain_config();
  config.value_normalisation = ValueNormalisation::kPopArt;
  config.advantage_scaling = AdvantageScaling::kValues;
  config.max_policy_lag = 10'000;
  Impala impala(config, network);
  Sequences sequences = small_sequences(1, 4);
  sequences.reward = {290, 300, 310, 320};
  sequences.flags.assign(4, Sequences::kTerminated);
  const TrainBatch batch = batch_of(sequences);
  for (int i = 0; i < 3000; ++i) REQUIRE(impala.update(batch).value().outcome == Outcome::kApplied);
  const model::Parameters published = impala.snapshot();
  const float* values = published.values.data() + kStates * kActions;
  for (std::size_t s = 0; s < 4; ++s) {
    INFO("state " << s);
    REQUIRE(values[s] + published.values.back() == Approx(290 + 10 * double(s)).margin(0.5));
  }
}

TEST_CASE("IMPALA's rewards that are centred leave nothing of what every decision pays",
          "[unit][learner]") {
  Sequences sequences = small_sequences(50, 4);
  sequences.reward.assign(sequences.reward.size(), -7);
  const TrainBatch batch = batch_of(sequences);
  const auto target = [&batch](bool centred, int updates) {
    ImpalaConfig config = plain_config();
    config.discount = 0.999;
    config.centre_rewards = centred;
    model::TabularNetwork network(64, 1, kActions);
    Impala impala(config, network);
    UpdateReport report;
    for (int i = 0; i < updates; ++i) report = impala.update(batch).value();
    if (centred) CHECK(scalar(report, "reward_rate") == Approx(-7));
    return scalar(report, "value_target");
  };
  CHECK(target(true, 1) == Approx(0).margin(1e-4));
  CHECK(target(true, 3) == Approx(0).margin(0.1));
  CHECK(target(false, 1) < -10);
}

TEST_CASE("a restored algorithm goes on exactly as the one that was saved", "[unit][learner]") {
  const auto kind = GENERATE(OptimizerKind::kAdam, OptimizerKind::kRmsProp);
  ImpalaConfig config;
  config.optimizer.kind = kind;
  config.centre_rewards = GENERATE(false, true);
  config.entropy_cost = {.kind = ScheduleKind::kLinear, .start = 0.1, .end = 0, .decisions = 100};
  const TrainBatch batch = batch_of(small_sequences(3, 2));
  model::TabularNetwork network(kStates, 1, kActions);
  Impala impala(config, network);
  for (int i = 0; i < 5; ++i) static_cast<void>(impala.update(batch).value());

  model::TabularNetwork other_network(kStates, 1, kActions);
  Impala other(config, other_network);
  REQUIRE(other.restore(impala.save()));
  REQUIRE(other.save() == impala.save());
  for (int i = 0; i < 5; ++i) {
    static_cast<void>(impala.update(batch).value());
    static_cast<void>(other.update(batch).value());
  }
  REQUIRE(other.save() == impala.save());
  REQUIRE(other.snapshot() == impala.snapshot());
}

TEST_CASE("a state that does not fit is refused with a sentence and changes nothing",
          "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  Impala impala(plain_config(), network);
  static_cast<void>(impala.update(batch_of(small_sequences(3, 2))).value());
  const AlgorithmState good = impala.save();
  const auto refused = [&](const AlgorithmState& changed, const std::string& sentence) {
    const auto result = impala.restore(changed);
    REQUIRE_FALSE(result);
    REQUIRE(result.error().code == Errc::kVersionMismatch);
    REQUIRE(result.error().detail == sentence);
    REQUIRE(impala.save() == good);
  };
  AlgorithmState state = good;
  state.algorithm = "apex";
  refused(state, "the checkpoint is of the algorithm 'apex', not of impala");
  state = good;
  state.vectors["parameters"].pop_back();
  refused(state, "the checkpoint's network is not that of this configuration");
  state = good;
  state.vectors.erase("optimizer.mean");
  refused(state, "the checkpoint's optimizer is not that of this configuration");
  state = good;
  state.reals.erase("values.mean");
  refused(state, "the checkpoint's value normalisation is not that of this configuration");
  state = good;
  state.counts.erase("decisions");
  refused(state, "the checkpoint's list of counters is not that of this configuration");
}

TEST_CASE("settings of IMPALA out of range are named", "[unit][learner]") {
  REQUIRE(validate(ImpalaConfig{}).empty());
  const auto only_problem = [](auto change) {
    ImpalaConfig config;
    change(config);
    const auto problems = validate(config);
    REQUIRE(problems.size() == 1);
    return problems[0];
  };
  REQUIRE(only_problem([](ImpalaConfig& c) { c.batch_decisions = 0; }) ==
          "batch_decisions must be from 1 to 1000000, not 0");
  REQUIRE(only_problem([](ImpalaConfig& c) { c.batch_decisions = 1'000'000'000'000; }) ==
          "batch_decisions must be from 1 to 1000000, not 1000000000000");
  REQUIRE(only_problem([](ImpalaConfig& c) { c.learning_rate.start = 1e300; }) ==
          "learning_rate.start must be at most 1000, not 1e+300");
  REQUIRE(only_problem([](ImpalaConfig& c) {
            c.learning_rate.end = std::numeric_limits<double>::infinity();
          }) == "learning_rate.end must be at most 1000, not inf");
  REQUIRE(only_problem([](ImpalaConfig& c) { c.entropy_cost.start = 1e30; }) ==
          "entropy_cost.start must be at most 1e+06, not 1e+30");
  REQUIRE(only_problem([](ImpalaConfig& c) { c.value_cost = 1e30; }).find("value_cost") == 0);
  REQUIRE(only_problem([](ImpalaConfig& c) { c.reward_scale = 1e30; }).find("reward_scale") == 0);
  REQUIRE(only_problem([](ImpalaConfig& c) { c.discount = 1.5; }).find("discount") == 0);
  REQUIRE(only_problem([](ImpalaConfig& c) { c.reward_scale = 0; }).find("reward_scale") == 0);
  REQUIRE(only_problem([](ImpalaConfig& c) { c.popart_rate = 2; }).find("popart_rate") == 0);
  REQUIRE(only_problem([](ImpalaConfig& c) {
            c.advantage_scaling = AdvantageScaling::kValues;
            c.value_normalisation = ValueNormalisation::kNone;
          }).find("advantage_scaling") == 0);
}

}  // namespace
}  // namespace pacml::learner

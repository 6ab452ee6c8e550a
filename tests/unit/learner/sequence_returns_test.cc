#include "learner/returns/sequence_returns.h"

#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/train_batches.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kActions = 3;
constexpr SequenceReturnsConfig kConfig{.discount = 0.9, .reward_scale = 2, .vtrace = {}};

// Of the behaviour policy: all actions alike.
MaskedCategorical uniform_policy(const TrainBatch& batch) {
  MaskedCategorical policy;
  const std::vector<float> logits(batch.decisions() * kActions, 0);
  masked_categorical(logits, batch.observations.masks().first(logits.size()), kActions, policy);
  return policy;
}

// V of row i.
std::vector<float> values_of(const TrainBatch& batch) {
  std::vector<float> values;
  for (std::size_t row = 0; row < batch.observations.size(); ++row) {
    values.push_back(0.1F * batch.observations.globals(row)[0]);
  }
  return values;
}

Sequences sample() {
  Sequences s = plain_sequences({3, 1, 4}, kOnlyGraph, 1, kActions);
  s.behaviour_log_prob.assign(8, -std::log(3.0F));
  s.flags[1] = Sequences::kTruncated;
  s.flags[5] = Sequences::kTerminated;
  append_plain(s.observations, 0, std::vector{77.0F}, std::vector<std::uint8_t>{1, 1, 1});
  return s;
}

TEST_CASE("a rate of rewards is taken off for the time that each decision takes",
          "[unit][learner]") {
  Sequences s = sample();
  s.elapsed = {1, 2, 0.5F, 3, 1, 10, 0.25F, 2};
  const TrainBatch batch = batch_of(s);
  SequenceReturnsConfig centred = kConfig;
  centred.reward_rate = 0.5;
  Sequences less = s;
  for (std::size_t i = 0; i < less.reward.size(); ++i) less.reward[i] -= 0.5F * less.elapsed[i];
  const TrainBatch plain = batch_of(less);
  const auto out = sequence_returns(batch, uniform_policy(batch), values_of(batch), centred);
  const auto expected = sequence_returns(plain, uniform_policy(plain), values_of(plain), kConfig);
  for (std::size_t i = 0; i < out.targets.size(); ++i) {
    INFO("decision " << i);
    CHECK(out.targets[i] == Approx(expected.targets[i]).epsilon(1e-5));
    CHECK(out.advantages[i] == Approx(expected.advantages[i]).margin(1e-5));
  }
}

TEST_CASE("what follows a decision is discounted by the time that it takes", "[unit][learner]") {
  Sequences s = sample();
  s.elapsed = {1, 2, 0.5F, 3, 1, 10, 0.25F, 2};
  const TrainBatch batch = batch_of(s);
  const auto values = values_of(batch);
  const auto out = sequence_returns(batch, uniform_policy(batch), values, kConfig);
  // On policy, targets are the discounted rewards and what is behind the sequence.
  std::size_t i = 8;
  for (const std::size_t length : {4U, 1U, 3U}) {
    double ahead = 0;
    for (std::size_t t = length; t-- > 0;) {
      --i;
      const bool cut = t + 1 == length || s.flags[i] != 0;
      const double next = cut ? double{values[batch.next_row[i]]} : ahead;
      const double discount =
          batch.terminated[i] != 0 ? 0 : std::pow(kConfig.discount, double{s.elapsed[i]});
      ahead = kConfig.reward_scale * double{s.reward[i]} + discount * next;
      INFO("decision " << i);
      CHECK(out.targets[i] == Approx(ahead).epsilon(1e-6));
      CHECK(out.advantages[i] == Approx(ahead - double{values[i]}).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEST_CASE("lambda may be of the time that decisions take", "[unit][learner]") {
  Sequences s = sample();
  s.elapsed = {1, 2, 0.5F, 3, 1, 10, 0.25F, 2};
  const TrainBatch timed = batch_of(s);
  const auto targets = [&](double lambda, LambdaUnit unit) {
    SequenceReturnsConfig config = kConfig;
    config.vtrace.lambda = lambda;
    config.vtrace.lambda_per = unit;
    return sequence_returns(timed, uniform_policy(timed), values_of(timed), config).targets;
  };
  CHECK(targets(1, LambdaUnit::kTime) == targets(1, LambdaUnit::kDecision));
  CHECK(targets(0, LambdaUnit::kTime) == targets(0, LambdaUnit::kDecision));
  // The last two decisions: the one before the last took a quarter of a unit.
  const auto of_time = targets(0.0625, LambdaUnit::kTime);
  const auto of_decisions = targets(0.5, LambdaUnit::kDecision);
  CHECK(of_time[6] == Approx(of_decisions[6]).epsilon(1e-6));
  CHECK(of_time[4] != Approx(of_decisions[4]).epsilon(1e-6));
}

TEST_CASE("on policy, targets less values are generalised advantages", "[unit][learner]") {
  Sequences s = sample();
  s.elapsed = {1, 2, 0.5F, 3, 1, 10, 0.25F, 2};
  const TrainBatch batch = batch_of(s);
  const auto values = values_of(batch);
  SequenceReturnsConfig config = kConfig;
  config.vtrace.lambda = GENERATE(0.0, 0.5, 0.95, 1.0);
  const auto out = generalised_advantages(
      sequence_returns(batch, uniform_policy(batch), values, config), values);
  REQUIRE(out.size() == 8);
  // Equation 16 as it stands: of each decision the sum of what it and all that follow it in its
  // episode and its sequence did better than expected.
  std::vector<std::size_t> last(8);
  for (std::size_t i = 8; i-- > 0;) {
    const bool cut = s.flags[i] != 0 || i == 2 || i == 3 || i == 7;
    last[i] = cut ? i : last[i + 1];
  }
  for (std::size_t t = 0; t < 8; ++t) {
    double sum = 0;
    double factor = 1;
    for (std::size_t k = t; k <= last[t]; ++k) {
      const double discount =
          batch.terminated[k] != 0 ? 0 : std::pow(kConfig.discount, double{s.elapsed[k]});
      const double expected = double{values[k]};
      const double came =
          kConfig.reward_scale * double{s.reward[k]} + discount * double{values[batch.next_row[k]]};
      sum += factor * (came - expected);
      factor *= discount * config.vtrace.lambda;
    }
    INFO("decision " << t << ", lambda " << config.vtrace.lambda);
    CHECK(out[t] == Approx(sum).epsilon(1e-5).margin(1e-5));
  }
}

TEST_CASE("steps of 1 that are said are as steps that are not", "[unit][learner]") {
  Sequences s = sample();
  const TrainBatch unsaid = batch_of(s);
  s.elapsed.assign(8, 1);
  const TrainBatch said = batch_of(s);
  const auto policy = uniform_policy(said);
  const auto values = values_of(said);
  CHECK(sequence_returns(said, policy, values, kConfig).targets ==
        sequence_returns(unsaid, policy, values, kConfig).targets);
}

TEST_CASE("the targets of a sequence do not depend on those beside it", "[unit][learner]") {
  const auto targets = [](const Sequences& s) {
    const TrainBatch batch = batch_of(s);
    return sequence_returns(batch, uniform_policy(batch), values_of(batch), kConfig).targets;
  };
  const auto of = [](std::vector<std::uint32_t> lengths) {
    Sequences s = plain_sequences(std::move(lengths), kOnlyGraph, 1, kActions);
    s.behaviour_log_prob.assign(s.num_decisions(), -1.3F);
    return s;
  };
  const auto alone = targets(of({5}));
  const auto beside = targets(of({5, 2, 7}));
  CHECK(std::vector(beside.begin(), beside.begin() + 5) == alone);
}

}  // namespace
}  // namespace pacml::learner

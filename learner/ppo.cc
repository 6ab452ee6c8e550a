#include "learner/ppo.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

#include "common/check.h"
#include "common/rng.h"
#include "learner/batch_moments.h"
#include "learner/losses/clipped_surrogate.h"
#include "learner/losses/entropy.h"
#include "learner/losses/value.h"
#include "learner/minibatches.h"
#include "learner/reward_rate.h"
#include "model/policy.h"

namespace pacml::learner {

struct Ppo::Figures {
  std::int64_t steps = 0;
  double policy_loss = 0;  // these three are sums over the steps,
  double value_loss = 0;
  double entropy_loss = 0;
  double gradient_norm = 0;
  RelativeEntropy relative;
  double decisions = 0;  // these over all
  double clipped = 0;
};

Ppo::Ppo(const PpoConfig& config, model::TrainableNetwork& network, Seed seed)
    : NetworkAlgorithm("ppo", network, config.optimizer, config.popart_rate,
                       model::ValueHeads::kValue, config.centre_rewards),
      config_(config),
      seed_(seed) {
  PACML_CHECK(validate(config).empty(), "a valid configuration");
}

Result<UpdateReport> Ppo::update(const TrainBatch& batch) {
  Lessons lessons;
  lessons.counts = fresh_decisions(batch, version(), config_.max_policy_lag);
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < batch.decisions(); ++i) {
    if (lessons.counts[i] > 0) order.push_back(static_cast<std::uint32_t>(i));
  }
  UpdateReport report;
  report.decisions = static_cast<std::int64_t>(order.size());
  report.stale = static_cast<std::int64_t>(batch.decisions() - order.size());
  if (order.empty()) return report;
  training_.begin_update();
  training_.take_in_rewards(reward_sums(batch));
  bool sound = look_at(batch, lessons);

  const double learning_rate = value_at(config_.learning_rate, training_.progress());
  const double entropy_cost = value_at(config_.entropy_cost, training_.progress());
  Rng rng(derive(seed_, Purpose::kMinibatch, version().get()));
  Figures figures;
  for (std::int64_t epoch = 0; epoch < config_.epochs && sound; ++epoch) {
    sound = for_each_minibatch(order, static_cast<std::size_t>(config_.minibatch_decisions), rng,
                               [&](std::span<const std::uint32_t> rows) {
                                 return learn(batch, lessons, rows, learning_rate, entropy_cost,
                                              figures);
                               });
  }
  if (sound) training_.take_in_values(target_sums(lessons.returns.targets, lessons.counts));
  report.outcome = training_.end_update(sound, report.decisions);
  if (report.outcome != Outcome::kApplied) return report;

  const auto steps = static_cast<double>(figures.steps);
  const BatchMoments targets = moments(lessons.returns.targets, lessons.counts);
  const BatchMoments log_rhos = moments(lessons.returns.log_rhos, lessons.counts);
  report.loss = (figures.policy_loss + figures.value_loss + figures.entropy_loss) / steps;
  report.scalars = {
      {"policy_loss", figures.policy_loss / steps},
      {"value_loss", figures.value_loss / steps},
      {"entropy_loss", figures.entropy_loss / steps},
      {"entropy", figures.relative.mean()},
      {"clipped", figures.clipped / figures.decisions},
      {"gradient_norm", figures.gradient_norm / steps},
      {"learning_rate", learning_rate},
      {"reward_rate", training_.reward_rate().value()},
      {"value_target", targets.mean()},
      {"value_deviation", training_.normaliser().deviation()},
      {"explained_variance", explained_variance(moments(lessons.errors, lessons.counts),
                                                moments(lessons.output_targets, lessons.counts))},
      {"log_rho", log_rhos.mean()},
      {"entropy_cost", entropy_cost}};
  return report;
}

bool Ppo::look_at(const TrainBatch& batch, Lessons& lessons) {
  model::TrainableNetwork& network = training_.network();
  network.prepare(batch.observations);
  rows_.resize(batch.observations.size());
  std::iota(rows_.begin(), rows_.end(), 0U);
  const auto outputs = network.forward_rows(rows_);
  if (!model::is_sound(outputs.logits, outputs.values)) return false;
  const auto actions = static_cast<std::size_t>(training_.network().shape().actions);
  const std::size_t decisions = batch.decisions();
  lessons.masks = batch.observations.padded_masks(scratch_).first(decisions * actions);
  masked_categorical(outputs.logits.first(decisions * actions), lessons.masks, actions, policy_);
  const SequenceReturnsConfig returns{
      .discount = config_.discount,
      .reward_scale = config_.reward_scale,
      .vtrace = {.lambda = config_.lambda, .lambda_per = config_.lambda_per},
      .reward_rate = training_.reward_rate().value()};
  const ValueNormaliser& normaliser = training_.normaliser();
  std::vector<float> values(outputs.values.size());
  const auto find_returns = [&] {
    std::ranges::transform(outputs.values, values.begin(),
                           [&](float output) { return normaliser.to_value(output); });
    lessons.returns = sequence_returns(batch, policy_, values, returns);
  };
  find_returns();
  if (!normaliser.started()) {
    training_.start_values(target_sums(lessons.returns.targets, lessons.counts));
    find_returns();
  }
  lessons.returns.advantages = generalised_advantages(lessons.returns, values);
  standardise(moments(lessons.returns.advantages, lessons.counts), lessons.returns.advantages);
  lessons.output_targets.resize(decisions);
  std::ranges::transform(lessons.returns.targets, lessons.output_targets.begin(),
                         [&](float target) { return normaliser.to_output(target); });
  lessons.errors.resize(decisions);
  std::ranges::transform(lessons.output_targets, outputs.values.first(decisions),
                         lessons.errors.begin(), std::minus<>());
  return true;
}

bool Ppo::learn(const TrainBatch& batch, const Lessons& lessons,
                std::span<const std::uint32_t> minibatch, double learning_rate, double entropy_cost,
                Figures& figures) {
  const auto width = static_cast<std::size_t>(training_.network().shape().actions);
  masks_.clear();
  actions_.clear();
  behaviour_log_probs_.clear();
  advantages_.clear();
  targets_.clear();
  for (const std::uint32_t i : minibatch) {
    const auto mask = lessons.masks.subspan(i * width, width);
    masks_.insert(masks_.end(), mask.begin(), mask.end());
    actions_.push_back(batch.actions[i]);
    behaviour_log_probs_.push_back(batch.behaviour_log_probs[i]);
    advantages_.push_back(lessons.returns.advantages[i]);
    targets_.push_back(lessons.output_targets[i]);
  }
  const std::size_t size = minibatch.size();
  weights_.assign(size, 1.0F / static_cast<float>(size));

  const auto outputs = training_.network().forward_rows(minibatch);
  if (!model::is_sound(outputs.logits, outputs.values)) return false;
  masked_categorical(outputs.logits, masks_, width, policy_);
  logit_gradients_.assign(outputs.logits.size(), 0.0F);
  value_gradients_.assign(size, 0.0F);
  const double policy = clipped_surrogate_loss(policy_, actions_, behaviour_log_probs_, advantages_,
                                               config_.clip, weights_, logit_gradients_);
  const double entropy =
      entropy_loss(policy_, config_.normalise_entropy, entropy_cost, weights_, logit_gradients_);
  const double value =
      value_loss(outputs.values, targets_, config_.value_cost, weights_, value_gradients_);
  const auto gradient = training_.network().backward(logit_gradients_, value_gradients_);
  const auto step = training_.step(gradient, learning_rate);
  if (!step.applied) return false;

  figures.policy_loss += policy;
  figures.entropy_loss += entropy;
  figures.value_loss += value;
  for (std::size_t n = 0; n < size; ++n) {
    const auto action = static_cast<std::size_t>(actions_[n]);
    const double log_ratio = policy_.log_probs[n * width + action] - behaviour_log_probs_[n];
    figures.clipped += std::abs(std::expm1(log_ratio)) > config_.clip ? 1 : 0;
  }
  figures.relative += relative_entropy(policy_);
  figures.decisions += static_cast<double>(size);
  figures.gradient_norm += step.gradient_norm;
  ++figures.steps;
  return true;
}

}  // namespace pacml::learner

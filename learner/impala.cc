#include "learner/impala.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "learner/losses/entropy.h"
#include "learner/losses/policy_gradient.h"
#include "learner/losses/value.h"
#include "learner/returns/vtrace.h"

namespace pacml::learner {
namespace {

constexpr std::string_view kName = "impala";
// A batch whose advantages hardly differ says nothing: it is not blown up to say something.
constexpr double kMinAdvantageDeviation = 1e-6;

// Mean and deviation of `values`, each counted where its weight is above 0.
struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments(std::span<const float> values, std::span<const float> weights) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    sum += values[i];
    count += 1;
  }
  if (count == 0) return {};
  const double mean = sum / count;
  double square = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    square += (values[i] - mean) * (values[i] - mean);
  }
  return {mean, std::sqrt(square / count)};
}

// The share of the targets' variance that the values explain.
double explained_variance(std::span<const float> values, std::span<const float> targets,
                          std::span<const float> weights) {
  std::vector<float> errors(values.size());
  std::ranges::transform(targets, values, errors.begin(), std::minus<>());
  const double error = moments(errors, weights).deviation;
  const double target = moments(targets, weights).deviation;
  return target > 0 ? 1 - (error * error) / (target * target) : 0;
}

// Of the decisions that offered a choice: mean entropy in units of its greatest value.
double relative_entropy(const MaskedCategorical& policy) {
  double sum = 0;
  double count = 0;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    if (policy.valid[n] < 2) continue;
    sum += policy.entropies[n] / std::log(static_cast<double>(policy.valid[n]));
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

Impala::Impala(const ImpalaConfig& config, model::TrainableNetwork& network)
    : config_(config),
      training_(network, config.optimizer, config.popart_rate, ValueHeads::kValue) {
  PACML_CHECK(validate(config).empty(), "a valid configuration");
}

UpdateReport Impala::update(const TrainBatch& batch) {
  UpdateReport report;
  const std::size_t decisions = batch.decisions();
  const auto actions = static_cast<std::size_t>(training_.network().shape().actions);
  const std::vector<float> weights = decision_weights(batch, report);
  if (report.decisions == 0) return report;

  const auto outputs = training_.network().forward(batch.observations);
  const auto logits = outputs.logits.first(decisions * actions);
  const auto values = outputs.values.first(decisions);
  masked_categorical(logits, batch.observations.masks().first(decisions * actions), actions,
                     policy_);
  const bool normalise = config_.value_normalisation == ValueNormalisation::kPopArt;
  if (normalise && !training_.normaliser().started()) {
    training_.start_values(compute_returns(batch, outputs.values).targets, weights);
  }
  Returns returns = compute_returns(batch, outputs.values);
  scale_advantages(weights, returns.advantages);
  std::vector<float> output_targets(decisions);
  std::ranges::transform(returns.targets, output_targets.begin(),
                         [this](float target) { return training_.normaliser().to_output(target); });

  // The states behind the decisions bootstrap, and are not trained on: their gradients stay 0.
  logit_gradients_.assign(outputs.logits.size(), 0.0F);
  value_gradients_.assign(outputs.values.size(), 0.0F);
  const auto logit_gradients = std::span(logit_gradients_).first(decisions * actions);
  const auto value_gradients = std::span(value_gradients_).first(decisions);
  const double entropy_cost = value_at(config_.entropy_cost, training_.decisions());
  const double policy_part =
      policy_gradient_loss(policy_, batch.actions, returns.advantages, weights, logit_gradients);
  const double entropy_part =
      entropy_loss(policy_, config_.normalise_entropy, entropy_cost, weights, logit_gradients);
  const double value_part =
      value_loss(values, output_targets, config_.value_cost, weights, value_gradients);
  report.loss = policy_part + entropy_part + value_part;
  const double explained = explained_variance(values, output_targets, weights);

  const double learning_rate = value_at(config_.learning_rate, training_.decisions());
  const auto gradient = training_.network().backward(logit_gradients_, value_gradients_);
  const auto step = training_.step(gradient, learning_rate, report.decisions);
  report.applied = step.applied;
  report.scalars = {{"policy_loss", policy_part},
                    {"value_loss", value_part},
                    {"entropy_loss", entropy_part},
                    {"entropy", relative_entropy(policy_)},
                    {"gradient_norm", step.gradient_norm},
                    {"learning_rate", learning_rate},
                    {"entropy_cost", entropy_cost},
                    {"value_target", moments(returns.targets, weights).mean},
                    {"value_deviation", training_.normaliser().deviation()},
                    {"explained_variance", explained},
                    {"log_rho", moments(returns.log_rhos, weights).mean}};
  if (step.applied && normalise) training_.take_in_values(returns.targets, weights);
  return report;
}

std::vector<float> Impala::decision_weights(const TrainBatch& batch, UpdateReport& report) const {
  std::vector<float> weights(batch.decisions());
  const auto now = training_.version().get();
  const auto max_lag = static_cast<std::uint64_t>(config_.max_policy_lag);
  std::ranges::transform(batch.policy_versions, weights.begin(), [&](PolicyVersion version) {
    // A learner that went back to a checkpoint may be behind its actors: those are not stale.
    const bool stale = now > version.get() && now - version.get() > max_lag;
    return stale ? 0.0F : 1.0F;
  });
  report.decisions = std::ranges::count(weights, 1.0F);
  report.stale = static_cast<std::int64_t>(weights.size()) - report.decisions;
  if (config_.loss_reduction == LossReduction::kMean && report.decisions > 0) {
    for (float& weight : weights) weight /= static_cast<float>(report.decisions);
  }
  return weights;
}

Impala::Returns Impala::compute_returns(const TrainBatch& batch,
                                        std::span<const float> value_outputs) const {
  const std::size_t decisions = batch.decisions();
  std::vector<float> values(value_outputs.size());
  std::ranges::transform(value_outputs, values.begin(),
                         [this](float output) { return training_.normaliser().to_value(output); });
  std::vector<float> next_values(decisions);
  std::vector<float> discounts(decisions);
  std::vector<float> rewards(decisions);
  Returns out;
  out.log_rhos.resize(decisions);
  for (std::size_t i = 0; i < decisions; ++i) {
    const auto action = static_cast<std::size_t>(batch.actions[i]);
    out.log_rhos[i] =
        policy_.log_probs[i * policy_.actions + action] - batch.behaviour_log_probs[i];
    next_values[i] = values[batch.next_row[i]];
    discounts[i] = batch.terminated[i] != 0 ? 0.0F : static_cast<float>(config_.discount);
    rewards[i] = static_cast<float>(config_.reward_scale * batch.rewards[i]);
  }
  out.targets.reserve(decisions);
  out.advantages.reserve(decisions);
  for (const TrainBatch::Block& block : batch.blocks) {
    const auto of_block = [&block](const auto& column) {
      return std::span(column).subspan(block.first, block.steps * block.streams);
    };
    const VtraceReturns traced = vtrace({.steps = block.steps,
                                         .batch = block.streams,
                                         .log_rhos = of_block(out.log_rhos),
                                         .discounts = of_block(discounts),
                                         .rewards = of_block(rewards),
                                         .values = of_block(values),
                                         .next_values = of_block(next_values),
                                         .ends = of_block(batch.ends)},
                                        config_.vtrace);
    out.targets.insert(out.targets.end(), traced.targets.begin(), traced.targets.end());
    out.advantages.insert(out.advantages.end(), traced.advantages.begin(), traced.advantages.end());
  }
  return out;
}

void Impala::scale_advantages(std::span<const float> weights, std::span<float> advantages) const {
  Moments unit{0, 1};
  if (config_.advantage_scaling == AdvantageScaling::kBatch) {
    unit = moments(advantages, weights);
    unit.deviation = std::max(unit.deviation, kMinAdvantageDeviation);
  } else if (config_.advantage_scaling == AdvantageScaling::kValues) {
    unit.deviation = training_.normaliser().deviation();
  }
  for (float& advantage : advantages) {
    advantage = static_cast<float>((advantage - unit.mean) / unit.deviation);
  }
}

AlgorithmState Impala::save() const { return training_.save(kName); }

Result<void> Impala::restore(const AlgorithmState& state) {
  return training_.fits(kName, state).map([&] { training_.restore(kName, state); });
}

}  // namespace pacml::learner

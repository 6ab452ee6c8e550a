#include "learner/apex_dqn.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "learner/losses/huber.h"
#include "learner/returns/double_q.h"
#include "learner/returns/importance.h"
#include "model/duelling.h"

namespace pacml::learner {
namespace {

constexpr std::string_view kName = "apex";
constexpr const char* kTarget = "target";

double mean(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

ApexDqn::ApexDqn(const ApexConfig& config, model::TrainableNetwork& network, model::Policy& online,
                 model::Policy& target)
    : config_(config),
      training_(network, config.optimizer, config.popart_rate, ValueHeads::kDuelling),
      online_(&online),
      target_(&target) {
  PACML_CHECK(validate(config).empty(), "a valid configuration");
  set_target(training_.folded().values);
}

void ApexDqn::set_graphs(std::span<const env::GraphFeaturesPtr> graphs) {
  training_.network().set_graphs(graphs);
  online_->set_graphs(graphs);
  target_->set_graphs(graphs);
}

void ApexDqn::set_target(std::vector<float> weights) {
  target_weights_ = std::move(weights);
  target_->set_parameters(
      {training_.version(), training_.network().layout().hash, target_weights_});
}

void ApexDqn::compute_targets(const TransitionBatch& batch) {
  const std::size_t actions = batch.next_states.num_actions();
  online_->set_parameters(training_.raw());
  online_->evaluate(batch.next_states, online_output_);
  target_->evaluate(batch.next_states, target_output_);
  q_values_.resize(batch.size() * actions);
  model::duelling_q_values(target_output_.logits, target_output_.values, batch.next_states.masks(),
                           actions, q_values_);
  targets_.resize(batch.size());
  double_q_targets(batch.n_step_returns, batch.discounts, online_output_.logits, q_values_, actions,
                   targets_);
}

UpdateReport ApexDqn::update(const TransitionBatch& batch) {
  const std::size_t size = batch.size();
  PACML_CHECK(size > 0, "a batch is of at least one transition");
  const std::size_t actions = batch.states.num_actions();
  compute_targets(batch);
  weights_.resize(size);
  importance_weights(batch.probabilities, config_.importance_exponent, weights_);
  const double weight_mean = mean(weights_);
  for (float& weight : weights_) weight /= static_cast<float>(size);

  const auto outputs = training_.network().forward(batch.states);
  q_values_.resize(size * actions);
  model::duelling_q_values(outputs.logits, outputs.values, batch.states.masks(), actions,
                           q_values_);
  const ValueNormaliser& normaliser = training_.normaliser();
  UpdateReport report;
  predictions_.resize(size);
  output_targets_.resize(size);
  report.priorities.resize(size);
  double error_sum = 0;
  for (std::size_t n = 0; n < size; ++n) {
    predictions_[n] = q_values_[n * actions + static_cast<std::size_t>(batch.actions[n])];
    output_targets_[n] = normaliser.to_output(targets_[n]);
    const float error = std::abs(normaliser.to_value(predictions_[n]) - targets_[n]);
    error_sum += error;
    report.priorities[n] = error;
  }
  q_gradients_.assign(size, 0.0F);
  report.loss =
      huber_loss(predictions_, output_targets_, config_.huber_delta, weights_, q_gradients_);
  logit_gradients_.assign(outputs.logits.size(), 0.0F);
  value_gradients_.assign(size, 0.0F);
  model::duelling_gradients(batch.states.masks(), actions, batch.actions, q_gradients_,
                            logit_gradients_, value_gradients_);
  const double learning_rate = value_at(config_.learning_rate, training_.decisions());
  const double prediction = normaliser.to_value(static_cast<float>(mean(predictions_)));
  const auto decisions = static_cast<std::int64_t>(size);

  const auto gradient = training_.network().backward(logit_gradients_, value_gradients_);
  // A bounded slope hides an infinite error from the gradient, but not from the loss.
  Optimizer::Step step;
  if (std::isfinite(report.loss)) step = training_.step(gradient, learning_rate, decisions);
  report.applied = step.applied;
  report.decisions = decisions;
  report.scalars = {{"td_error", error_sum / static_cast<double>(size)},
                    {"q_value", prediction},
                    {"value_target", mean(targets_)},
                    {"value_deviation", normaliser.deviation()},
                    {"importance_weight", weight_mean},
                    {"gradient_norm", step.gradient_norm},
                    {"learning_rate", learning_rate}};
  if (!step.applied) {
    report.priorities.clear();
    return report;
  }
  if (config_.value_normalisation == ValueNormalisation::kPopArt) {
    training_.take_in_values(targets_, weights_);
  }
  if (training_.updates() % config_.target_period == 0) set_target(training_.folded().values);
  return report;
}

AlgorithmState ApexDqn::save() const {
  AlgorithmState state = training_.save(kName);
  state.vectors[kTarget] = target_weights_;
  return state;
}

Result<void> ApexDqn::restore(const AlgorithmState& state) {
  if (auto fits = training_.fits(kName, state); !fits) return fits;
  const auto target = state.vectors.find(kTarget);
  if (target == state.vectors.end() || target->second.size() != target_weights_.size()) {
    return fail(Errc::kVersionMismatch,
                "the checkpoint's target network is not that of this configuration");
  }
  training_.restore(kName, state);
  set_target(target->second);
  return {};
}

}  // namespace pacml::learner

#include "learner/apex_dqn.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "common/scope_exit.h"
#include "learner/losses/huber.h"
#include "learner/replicas/gather_rows.h"
#include "learner/returns/double_q.h"
#include "learner/returns/importance.h"
#include "learner/reward_rate.h"
#include "model/value_heads.h"

namespace pacml::learner {
namespace {

constexpr const char* kTarget = "target";

double sum_of(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

// What a replica tells of its share of a batch before the loss.
struct Share {
  double size = 0;
  double least_probability = std::numeric_limits<double>::infinity();
  // Of its transitions, discounted, as the time that they took, and each as often as if all that
  // the replay holds were drawn equally often: those of high priority pay otherwise than usual.
  RewardSums usual{};
  double weight = 0;  // the sum of how often that is

  Share& operator+=(const Share& other) {
    size += other.size;
    least_probability = std::min(least_probability, other.least_probability);
    usual += other.usual;
    weight += other.weight;
    return *this;
  }
};

}  // namespace

// What it tells after the loss.
struct ApexDqn::Figures {
  double loss = 0;
  double error = 0;  // this and the next are sums over the share
  double prediction = 0;
  double target = 0;
  double importance = 0;
  TargetSums target_sums;

  Figures& operator+=(const Figures& other) {
    loss += other.loss;
    error += other.error;
    prediction += other.prediction;
    target += other.target;
    importance += other.importance;
    target_sums += other.target_sums;
    return *this;
  }
};

ApexDqn::ApexDqn(const ApexConfig& config, model::TrainableNetwork& network, model::Policy& online,
                 model::Policy& target, ReplicaGroup& replicas)
    : NetworkAlgorithm("apex", network, config.optimizer, config.popart_rate, config.heads,
                       config.centre_rewards),
      config_(config),
      online_(&online),
      target_(&target),
      replicas_(&replicas) {
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

bool ApexDqn::compute_targets(const TransitionBatch& batch) {
  const std::size_t actions = batch.next_states.num_candidates();
  online_->set_parameters(training_.raw());
  online_->evaluate(batch.next_states, online_output_);
  target_->evaluate(batch.next_states, target_output_);
  for (std::size_t n = 0; n < batch.size(); ++n) {
    if (batch.discounts[n] == 0) continue;  // nobody looks at what follows
    for (const model::PolicyOutput* said : {&online_output_, &target_output_}) {
      const auto logits = std::span(said->logits).subspan(n * actions, actions);
      if (!model::is_sound(logits, std::span(said->values).subspan(n, 1))) return false;
    }
  }
  q_values_.resize(batch.size() * actions);
  model::action_values(config_.heads, target_output_.logits, target_output_.values,
                       batch.next_states.padded_masks(masks_), actions, q_values_);
  targets_.resize(batch.size());
  double_q_targets(batch.n_step_returns, batch.discounts, online_output_.logits, q_values_, actions,
                   targets_);
  const double rate = training_.reward_rate().value();
  for (std::size_t n = 0; config_.centre_rewards && n < batch.size(); ++n) {
    targets_[n] -= static_cast<float>(rate * double{batch.discounted_times[n]});
  }
  return true;
}

std::span<float> ApexDqn::refuse(Figures& figures) {
  figures.loss = std::nan("");
  no_gradient_.assign(training_.network().layout().total, 0.0F);
  return no_gradient_;
}

Result<UpdateReport> ApexDqn::update(const TransitionBatch& batch) {
  Share share{.size = static_cast<double>(batch.size())};
  if (batch.size() > 0) share.least_probability = *std::ranges::min_element(batch.probabilities);
  for (std::size_t n = 0; config_.centre_rewards && n < batch.size(); ++n) {
    const double often = 1 / batch.probabilities[n];
    share.usual +=
        {1, often * double{batch.n_step_returns[n]}, often * double{batch.discounted_times[n]}};
    share.weight += often;
  }
  const auto shares = gather_rows(*replicas_, share);
  if (!shares) return tl::unexpected(shares.error());
  Share whole;
  for (const Share& part : *shares) whole += part;
  UpdateReport report;
  report.decisions = static_cast<std::int64_t>(whole.size);
  if (report.decisions == 0) return report;

  training_.begin_update();
  const ScopeExit at_end([this] { training_.abandon_update(); });
  const double once = whole.weight > 0 ? whole.size / whole.weight : 0;
  training_.take_in_rewards({whole.size, once * whole.usual.rewards, once * whole.usual.elapsed});
  Figures figures;
  std::span<float> gradient;
  if (batch.size() > 0) {
    gradient = differentiate(batch, report.decisions, whole.least_probability, figures, report);
  } else {
    no_gradient_.assign(training_.network().layout().total, 0.0F);
    gradient = no_gradient_;
  }
  if (auto summed = replicas_->sum(gradient); !summed) return tl::unexpected(summed.error());
  const auto rows = gather_rows(*replicas_, figures);
  if (!rows) return tl::unexpected(rows.error());
  Figures all;
  for (const Figures& row : *rows) all += row;

  const ValueNormaliser& normaliser = training_.normaliser();
  const double learning_rate = value_at(config_.learning_rate, training_.progress());
  const double prediction = normaliser.to_value(static_cast<float>(all.prediction / whole.size));
  const double deviation = normaliser.deviation();
  report.loss = all.loss;
  // A bounded slope hides an infinite error from the gradient, but not from the loss.
  Optimizer::Step step;
  if (std::isfinite(report.loss)) step = training_.step(gradient, learning_rate);
  if (step.applied && config_.value_normalisation == ValueNormalisation::kPopArt) {
    training_.take_in_values(all.target_sums);
  }
  report.outcome = training_.end_update(step.applied, report.decisions);
  report.scalars = {{"td_error", all.error / whole.size},
                    {"q_value", prediction},
                    {"value_target", all.target / whole.size},
                    {"value_deviation", deviation},
                    {"importance_weight", all.importance / whole.size},
                    {"gradient_norm", step.gradient_norm},
                    {"learning_rate", learning_rate}};
  if (config_.centre_rewards) {
    report.scalars.emplace_back("reward_rate", training_.reward_rate().value());
  }
  if (report.outcome != Outcome::kApplied) {
    report.priorities.clear();
    return report;
  }
  if (training_.updates() % config_.target_period == 0) set_target(training_.folded().values);
  return report;
}

std::span<float> ApexDqn::differentiate(const TransitionBatch& batch, std::int64_t whole_size,
                                        double least_probability, Figures& figures,
                                        UpdateReport& report) {
  const std::size_t size = batch.size();
  const std::size_t actions = batch.states.num_candidates();
  if (!compute_targets(batch)) return refuse(figures);
  weights_.resize(size);
  importance_weights(batch.probabilities, least_probability, config_.importance_exponent, weights_);
  figures.importance = sum_of(weights_);
  for (float& weight : weights_) weight /= static_cast<float>(whole_size);

  const auto outputs = training_.network().forward(batch.states);
  if (!model::is_sound(outputs.logits, outputs.values)) return refuse(figures);
  q_values_.resize(size * actions);
  model::action_values(config_.heads, outputs.logits, outputs.values,
                       batch.states.padded_masks(masks_), actions, q_values_);
  const ValueNormaliser& normaliser = training_.normaliser();
  predictions_.resize(size);
  output_targets_.resize(size);
  report.priorities.resize(size);
  for (std::size_t n = 0; n < size; ++n) {
    predictions_[n] = q_values_[n * actions + static_cast<std::size_t>(batch.actions[n])];
    output_targets_[n] = normaliser.to_output(targets_[n]);
    const float error = std::abs(normaliser.to_value(predictions_[n]) - targets_[n]);
    figures.error += error;
    report.priorities[n] = error;
  }
  q_gradients_.assign(size, 0.0F);
  figures.loss =
      huber_loss(predictions_, output_targets_, config_.huber_delta, weights_, q_gradients_);
  figures.prediction = sum_of(predictions_);
  figures.target = sum_of(targets_);
  figures.target_sums = target_sums(targets_, weights_);
  logit_gradients_.assign(outputs.logits.size(), 0.0F);
  value_gradients_.assign(size, 0.0F);
  model::action_value_gradients(config_.heads, batch.states.padded_masks(masks_), actions,
                                batch.actions, q_gradients_, logit_gradients_, value_gradients_);
  return training_.network().backward(logit_gradients_, value_gradients_);
}

void ApexDqn::save_more(AlgorithmState& state) const { state.vectors[kTarget] = target_weights_; }

Result<void> ApexDqn::more_fits(const AlgorithmState& state) const {
  const auto target = state.vectors.find(kTarget);
  if (target != state.vectors.end() && target->second.size() == target_weights_.size()) return {};
  return fail(Errc::kVersionMismatch,
              "the checkpoint's target network is not that of this configuration");
}

void ApexDqn::restore_more(const AlgorithmState& state) { set_target(state.vectors.at(kTarget)); }

}  // namespace pacml::learner

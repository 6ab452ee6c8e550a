#include "learner/impala.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "common/scope_exit.h"
#include "learner/losses/entropy.h"
#include "learner/losses/policy_gradient.h"
#include "learner/losses/value.h"
#include "learner/replicas/gather_rows.h"
#include "learner/reward_rate.h"
#include "model/policy.h"

namespace pacml::learner {
namespace {

template <class Row, class Sums>
Sums total(const std::vector<Row>& rows, Sums Row::*field) {
  Sums sum{};
  for (const Row& row : rows) sum += row.*field;
  return sum;
}

template <class Sums>
Sums total(const std::vector<Sums>& rows) {
  Sums sum;
  for (const Sums& row : rows) sum += row;
  return sum;
}

template <class Row>
BatchMoments total(const std::vector<Row>& rows, BatchMoments Row::*field) {
  std::vector<BatchMoments> parts;
  for (const Row& row : rows) parts.push_back(row.*field);
  return merge(parts);
}

}  // namespace

// What a replica tells of its share of a batch before the loss: what counts, over how much of the
// batch it is to be divided.
struct Impala::Share {
  RewardSums rewards{};
  double diverged = 0;  // 1: the network says what nobody can learn from
  double fresh = 0;     // decisions that count
  double stale = 0;
  ImportanceSums advantages;
  BatchMoments targets;
  BatchMoments errors;  // of values, in the unit of outputs
  BatchMoments output_targets;
  BatchMoments log_rhos;
  TargetSums target_sums;
};

// ... and after it.
struct Impala::Losses {
  double policy = 0;
  double entropy = 0;
  double value = 0;
  RelativeEntropy relative;
};

Impala::Impala(const ImpalaConfig& config, model::TrainableNetwork& network, ReplicaGroup& replicas)
    : NetworkAlgorithm("impala", network, config.optimizer, config.popart_rate,
                       model::ValueHeads::kValue, config.centre_rewards),
      config_(config),
      replicas_(&replicas) {
  PACML_CHECK(validate(config).empty(), "a valid configuration");
}

Result<UpdateReport> Impala::update(const TrainBatch& batch) {
  training_.begin_update();
  const ScopeExit at_end([this] { training_.abandon_update(); });
  Share share;
  Pass pass = look_at(batch, share);
  const auto first = start_rewards(batch);
  if (!first) return tl::unexpected(first.error());
  if (auto started = start_values(batch, pass); !started) return tl::unexpected(started.error());
  Targets targets = make_targets(batch, pass, share);

  const auto shares = gather_rows(*replicas_, share);
  if (!shares) return tl::unexpected(shares.error());
  UpdateReport report;
  report.decisions = static_cast<std::int64_t>(total(*shares, &Share::fresh));
  report.stale = static_cast<std::int64_t>(total(*shares, &Share::stale));
  if (report.decisions == 0) return report;
  if (total(*shares, &Share::diverged) > 0) {
    report.outcome = training_.end_update(false, 0);
    return report;
  }
  if (config_.loss_reduction == LossReduction::kMean) {
    for (float& weight : pass.weights) weight /= static_cast<float>(report.decisions);
  }
  scale_advantages(total(*shares, &Share::advantages), targets.returns);

  // From the next update on, but the first batch of all is taken in before.
  if (!*first) training_.take_in_rewards(total(*shares, &Share::rewards));
  const double entropy_cost = value_at(config_.entropy_cost, training_.progress());
  const Losses mine = compute_losses(batch, pass, targets, entropy_cost);
  const std::span<float> gradient = backward(pass);
  if (auto summed = replicas_->sum(gradient); !summed) return tl::unexpected(summed.error());
  const auto losses = gather_rows(*replicas_, mine);
  if (!losses) return tl::unexpected(losses.error());
  take_step(gradient, *shares, *losses, report);
  report.scalars.emplace_back("entropy_cost", entropy_cost);
  if (config_.centre_rewards) {
    report.scalars.emplace_back("reward_rate", training_.reward_rate().value());
  }
  return report;
}

Impala::Pass Impala::look_at(const TrainBatch& batch, Share& share) {
  const auto actions = static_cast<std::size_t>(training_.network().shape().actions);
  Pass pass;
  pass.weights = fresh_decisions(batch, version(), config_.max_policy_lag);
  share.fresh = static_cast<double>(std::ranges::count(pass.weights, 1.0F));
  share.stale = static_cast<double>(pass.weights.size()) - share.fresh;
  share.rewards = reward_sums(batch);
  // Where nothing is fresh, everything that follows is empty.
  if (share.fresh == 0) pass.weights.clear();
  if (!pass.weights.empty()) pass.outputs = training_.network().forward(batch.observations);
  if (!model::is_sound(pass.outputs.logits, pass.outputs.values)) {
    share.diverged = 1;
    pass = {};
  }
  masked_categorical(pass.outputs.logits.first(pass.decisions() * actions),
                     batch.observations.padded_masks(masks_).first(pass.decisions() * actions),
                     actions, policy_);
  return pass;
}

bool Impala::normalises() const {
  return config_.value_normalisation == ValueNormalisation::kPopArt;
}

Result<bool> Impala::start_rewards(const TrainBatch& batch) {
  if (!config_.centre_rewards || training_.reward_rate().started()) return false;
  const auto sums = gather_rows(*replicas_, reward_sums(batch));
  if (!sums) return tl::unexpected(sums.error());
  training_.take_in_rewards(total(*sums));
  return true;
}

Result<void> Impala::start_values(const TrainBatch& batch, const Pass& pass) {
  if (!normalises() || training_.normaliser().started()) return {};
  const SequenceReturns first = compute_returns(batch, pass.outputs.values);
  const auto sums = gather_rows(*replicas_, target_sums(first.targets, pass.weights));
  if (!sums) return tl::unexpected(sums.error());
  training_.start_values(total(*sums));
  return {};
}

Impala::Targets Impala::make_targets(const TrainBatch& batch, const Pass& pass,
                                     Share& share) const {
  Targets out{compute_returns(batch, pass.outputs.values), std::vector<float>(pass.decisions())};
  std::ranges::transform(out.returns.targets, out.outputs.begin(),
                         [this](float target) { return training_.normaliser().to_output(target); });
  std::vector<float> errors(pass.decisions());
  std::ranges::transform(out.outputs, pass.values(), errors.begin(), std::minus<>());
  share.advantages = importance_sums(out.returns.advantages, out.returns.ratios, pass.weights);
  share.targets = moments(out.returns.targets, pass.weights);
  share.errors = moments(errors, pass.weights);
  share.output_targets = moments(out.outputs, pass.weights);
  share.log_rhos = moments(out.returns.log_rhos, pass.weights);
  share.target_sums = target_sums(out.returns.targets, pass.weights);
  return out;
}

Impala::Losses Impala::compute_losses(const TrainBatch& batch, const Pass& pass,
                                      const Targets& targets, double entropy_cost) {
  // The states behind the decisions bootstrap, and are not trained on: their gradients stay 0.
  logit_gradients_.assign(pass.outputs.logits.size(), 0.0F);
  value_gradients_.assign(pass.outputs.values.size(), 0.0F);
  const auto actions = static_cast<std::size_t>(training_.network().shape().actions);
  const auto logit_gradients = std::span(logit_gradients_).first(pass.decisions() * actions);
  const auto value_gradients = std::span(value_gradients_).first(pass.decisions());
  Losses losses;
  losses.policy = policy_gradient_loss(policy_, std::span(batch.actions).first(pass.decisions()),
                                       targets.returns.advantages, pass.weights, logit_gradients);
  losses.entropy =
      entropy_loss(policy_, config_.normalise_entropy, entropy_cost, pass.weights, logit_gradients);
  losses.value =
      value_loss(pass.values(), targets.outputs, config_.value_cost, pass.weights, value_gradients);
  losses.relative = relative_entropy(policy_);
  return losses;
}

std::span<float> Impala::backward(const Pass& pass) {
  if (pass.decisions() > 0) return training_.network().backward(logit_gradients_, value_gradients_);
  no_gradient_.assign(training_.network().layout().total, 0.0F);
  return no_gradient_;
}

void Impala::take_step(std::span<const float> gradient, const std::vector<Share>& shares,
                       const std::vector<Losses>& losses, UpdateReport& report) {
  const double policy_part = total(losses, &Losses::policy);
  const double value_part = total(losses, &Losses::value);
  const double entropy_part = total(losses, &Losses::entropy);
  const RelativeEntropy relative = total(losses, &Losses::relative);
  report.loss = policy_part + entropy_part + value_part;
  const double learning_rate = value_at(config_.learning_rate, training_.progress());
  Optimizer::Step step;
  if (std::isfinite(report.loss)) step = training_.step(gradient, learning_rate);
  const double deviation = training_.normaliser().deviation();
  if (step.applied && normalises()) {
    training_.take_in_values(total(shares, &Share::target_sums));
  }
  report.outcome = training_.end_update(step.applied, report.decisions);
  report.scalars = {
      {"policy_loss", policy_part},
      {"value_loss", value_part},
      {"entropy_loss", entropy_part},
      {"entropy", relative.mean()},
      {"gradient_norm", step.gradient_norm},
      {"learning_rate", learning_rate},
      {"value_target", total(shares, &Share::targets).mean()},
      {"value_deviation", deviation},
      {"explained_variance",
       explained_variance(total(shares, &Share::errors), total(shares, &Share::output_targets))},
      {"log_rho", total(shares, &Share::log_rhos).mean()}};
}

SequenceReturns Impala::compute_returns(const TrainBatch& batch,
                                        std::span<const float> value_outputs) const {
  if (value_outputs.empty()) return {};
  std::vector<float> values(value_outputs.size());
  std::ranges::transform(value_outputs, values.begin(),
                         [this](float output) { return training_.normaliser().to_value(output); });
  return sequence_returns(batch, policy_, values,
                          {.discount = config_.discount,
                           .reward_scale = config_.reward_scale,
                           .vtrace = config_.vtrace,
                           .reward_rate = training_.reward_rate().value()});
}

void Impala::scale_advantages(const ImportanceSums& batch, SequenceReturns& returns) const {
  if (config_.advantage_scaling == AdvantageScaling::kBatch) {
    standardise(batch, returns.ratios, returns.advantages);
  } else if (config_.advantage_scaling == AdvantageScaling::kValues) {
    const double deviation = training_.normaliser().deviation();
    for (float& advantage : returns.advantages) {
      advantage = static_cast<float>(advantage / deviation);
    }
  }
}

}  // namespace pacml::learner

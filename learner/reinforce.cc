#include "learner/reinforce.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "common/check.h"
#include "learner/batch_moments.h"
#include "learner/losses/entropy.h"
#include "learner/losses/policy_gradient.h"
#include "learner/returns/episode_returns.h"
#include "model/policy.h"

namespace pacml::learner {
namespace {

constexpr double kNoPopArt = 1;  // values are not learned

}  // namespace

Reinforce::Reinforce(const ReinforceConfig& config, model::TrainableNetwork& network)
    : NetworkAlgorithm("reinforce", network, config.optimizer, kNoPopArt,
                       model::ValueHeads::kValue),
      config_(config),
      baselines_(static_cast<std::size_t>(config.baseline_window),
                 static_cast<std::size_t>(config.most_baselines)) {
  PACML_CHECK(validate(config).empty(), "a valid configuration");
}

Result<UpdateReport> Reinforce::update(const TrainBatch& batch) {
  Lessons lessons = look_at(batch);
  UpdateReport report;
  report.decisions = lessons.decisions;
  report.stale = lessons.stale;
  report.unfinished = lessons.unfinished;
  if (lessons.decisions == 0) return report;

  const auto outputs = training_.network().forward(batch.observations);
  if (!model::is_sound(outputs.logits, outputs.values)) {
    report.outcome = Outcome::kDiverged;
    return report;
  }
  find_advantages(batch, lessons);
  const BatchMoments advantages = moments(lessons.advantages, lessons.weights);
  if (config_.advantage_scaling == AdvantageScaling::kBatch) {
    standardise(advantages, lessons.advantages);
  }
  const BatchMoments returns = moments(lessons.returns, lessons.weights);
  if (config_.loss_reduction == LossReduction::kMean) {
    for (float& weight : lessons.weights) weight /= static_cast<float>(lessons.decisions);
  }

  const std::size_t decisions = batch.decisions();
  const auto actions = static_cast<std::size_t>(training_.network().shape().actions);
  masked_categorical(outputs.logits.first(decisions * actions),
                     batch.observations.padded_masks(masks_).first(decisions * actions), actions,
                     policy_);
  // What follows the decisions says nothing: its gradients stay 0, as those of values.
  logit_gradients_.assign(outputs.logits.size(), 0.0F);
  value_gradients_.assign(outputs.values.size(), 0.0F);
  const auto gradients = std::span(logit_gradients_).first(decisions * actions);
  const double learning_rate = value_at(config_.learning_rate, training_.progress());
  const double entropy_cost = value_at(config_.entropy_cost, training_.progress());
  const double policy =
      policy_gradient_loss(policy_, batch.actions, lessons.advantages, lessons.weights, gradients);
  const double entropy =
      config_.entropy_offset > 0
          ? offset_entropy_loss(policy_, config_.entropy_offset, config_.normalise_entropy,
                                entropy_cost, lessons.weights, gradients)
          : entropy_loss(policy_, config_.normalise_entropy, entropy_cost, lessons.weights,
                         gradients);
  report.loss = policy + entropy;
  training_.begin_update();
  Optimizer::Step step;
  if (std::isfinite(report.loss)) {
    step = training_.step(training_.network().backward(logit_gradients_, value_gradients_),
                          learning_rate);
  }
  report.outcome = training_.end_update(step.applied, report.decisions);
  report.scalars = {{"policy_loss", policy},
                    {"entropy_loss", entropy},
                    {"entropy", relative_entropy(policy_).mean()},
                    {"gradient_norm", step.gradient_norm},
                    {"learning_rate", learning_rate},
                    {"entropy_cost", entropy_cost},
                    {"return_to_go", returns.mean()},
                    {"advantage_deviation", advantages.deviation()},
                    {"baselines", static_cast<double>(baselines_.size())}};
  return report;
}

Reinforce::Lessons Reinforce::look_at(const TrainBatch& batch) {
  Lessons lessons;
  lessons.weights = fresh_decisions(batch, version(), config_.max_policy_lag);
  EpisodeReturns known = episode_returns(batch, config_.discount);
  for (std::size_t i = 0; i < batch.decisions(); ++i) {
    if (lessons.weights[i] == 0) {
      ++lessons.stale;
    } else if (known.known[i] == 0) {
      ++lessons.unfinished;
      lessons.weights[i] = 0;
    } else {
      ++lessons.decisions;
    }
  }
  lessons.returns = std::move(known.returns);
  return lessons;
}

void Reinforce::find_advantages(const TrainBatch& batch, Lessons& lessons) {
  const std::size_t slots = batch.observations.shape().slots.size();
  lessons.advantages.resize(batch.decisions());
  BaselineKey key;
  for (std::size_t s = 0; s < batch.sequences.size(); ++s) {
    const SequenceRange& sequence = batch.sequences[s];
    key.step = batch.first_steps[s];
    for (std::size_t i = sequence.first; i < sequence.first + sequence.length; ++i) {
      if (lessons.weights[i] > 0) {
        const auto graphs = batch.observations.graph_indices().subspan(i * slots, slots);
        key.graphs.assign(graphs.begin(), graphs.end());
        const double baseline = baselines_.take_in(key, lessons.returns[i]);
        lessons.advantages[i] = static_cast<float>(lessons.returns[i] - baseline);
      }
      key.step = batch.ends[i] != 0 ? 0 : key.step + 1;
    }
  }
}

}  // namespace pacml::learner

#include "learner/expert_iteration.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "common/rng.h"
#include "learner/batch_moments.h"
#include "learner/losses/action_values.h"
#include "learner/reward_rate.h"
#include "model/policy.h"

namespace pacml::learner {
struct ExpertIteration::Figures {
  std::int64_t steps = 0;
  double decisions = 0;
  double gradient_norm = 0;
  ActionValueLoss loss;
};

ExpertIteration::ExpertIteration(const ExpertIterationConfig& config,
                                 model::TrainableNetwork& network, Seed seed, bool centred)
    : NetworkAlgorithm("expert_iteration", network, config.optimizer, config.popart_rate,
                       model::ValueHeads::kActions, centred),
      config_(config),
      seed_(seed) {
  PACML_CHECK(validate(config).empty(), "a valid configuration");
}

Result<UpdateReport> ExpertIteration::update(const TrainBatch& batch) {
  const std::vector<float> levels = remember(batch);
  UpdateReport report;
  report.decisions = static_cast<std::int64_t>(levels.size());
  report.stale = static_cast<std::int64_t>(batch.decisions() - levels.size());
  if (levels.empty()) return report;
  const std::vector<float> all(levels.size(), 1.0F);
  const TargetSums sums = target_sums(levels, all);
  training_.begin_update();
  training_.take_in_rewards(reward_sums(batch));
  if (!training_.normaliser().started()) training_.start_values(sums);

  const double learning_rate = value_at(config_.learning_rate, training_.progress());
  Rng rng(derive(seed_, Purpose::kMinibatch, version().get()));
  Figures figures;
  // Minibatches of nearly one size, none larger than asked for.
  const auto draws = static_cast<std::size_t>(report.decisions * config_.samples_per_decision);
  const auto most = static_cast<std::size_t>(config_.minibatch_decisions);
  const std::size_t pieces = (draws + most - 1) / most;
  bool sound = true;
  for (std::size_t piece = 0; piece < pieces && sound; ++piece) {
    drawn_.clear();
    const std::size_t end = draws * (piece + 1) / pieces;
    for (std::size_t i = draws * piece / pieces; i < end; ++i) memory_.draw(rng, drawn_);
    sound = learn(learning_rate, figures);
  }
  if (sound) training_.take_in_values(sums);
  report.outcome = training_.end_update(sound, report.decisions);
  if (report.outcome != Outcome::kApplied) return report;

  const auto steps = static_cast<double>(figures.steps);
  report.loss = (figures.loss.advantages + figures.loss.level) / steps;
  report.scalars = {
      {"advantage_loss", figures.loss.advantages / steps},
      {"level_loss", figures.loss.level / steps},
      {"explained_advantage", figures.loss.squared_targets > 0
                                  ? 1 - figures.loss.squared_errors / figures.loss.squared_targets
                                  : 0},
      {"agreement", static_cast<double>(figures.loss.agreed) / figures.decisions},
      {"gradient_norm", figures.gradient_norm / steps},
      {"learning_rate", learning_rate},
      {"value_target", moments(levels, all).mean()},
      {"value_deviation", training_.normaliser().deviation()},
      {"memory", static_cast<double>(memory_.size())}};
  return report;
}

std::vector<float> ExpertIteration::remember(const TrainBatch& batch) {
  const std::vector<float> fresh = fresh_decisions(batch, version(), config_.max_policy_lag);
  SearchedDecisions searched;
  std::vector<float> levels;
  auto values = std::span<const float>(batch.action_values);
  for (std::size_t i = 0; i < batch.decisions(); ++i) {
    const std::size_t count = batch.observations.num_valid(i);
    PACML_CHECK(values.size() >= count, "every decision was searched");
    const auto mine = values.first(count);
    values = values.subspan(count);
    if (fresh[i] == 0) continue;
    searched.append(batch.observations, i, mine);
    levels.push_back(std::accumulate(mine.begin(), mine.end(), 0.0F) / static_cast<float>(count));
  }
  remembered_ += static_cast<std::int64_t>(levels.size());
  const auto share =
      static_cast<std::int64_t>(config_.memory_share * static_cast<double>(remembered_));
  memory_.add(std::move(searched),
              static_cast<std::size_t>(std::min(config_.memory_decisions, share)));
  return levels;
}

bool ExpertIteration::learn(double learning_rate, Figures& figures) {
  const ValueNormaliser& normaliser = training_.normaliser();
  targets_.resize(drawn_.action_values.size());
  std::ranges::transform(drawn_.action_values, targets_.begin(),
                         [&](float value) { return normaliser.to_output(value); });
  const std::size_t size = drawn_.size();
  weights_.assign(size, 1.0F / static_cast<float>(size));

  const auto outputs = training_.network().forward(drawn_.observations);
  if (!model::is_sound(outputs.logits, outputs.values)) return false;
  logit_gradients_.assign(outputs.logits.size(), 0.0F);
  value_gradients_.assign(size, 0.0F);
  const ActionValueLoss loss =
      action_value_loss(outputs.logits, outputs.values, drawn_.observations.padded_masks(masks_),
                        static_cast<std::size_t>(training_.network().shape().actions), targets_,
                        config_.level_cost, weights_, logit_gradients_);
  const auto gradient = training_.network().backward(logit_gradients_, value_gradients_);
  const auto step = training_.step(gradient, learning_rate);
  if (!step.applied) return false;
  ++figures.steps;
  figures.decisions += static_cast<double>(size);
  figures.gradient_norm += step.gradient_norm;
  figures.loss += loss;
  return true;
}

}  // namespace pacml::learner

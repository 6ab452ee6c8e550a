#include "learner/behaviour_cloning.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

#include "common/check.h"
#include "common/rng.h"
#include "learner/losses/cross_entropy.h"
#include "learner/minibatches.h"
#include "model/policy.h"

namespace pacml::learner {

BehaviouralCloning::BehaviouralCloning(const CloningConfig& config,
                                       const Demonstrations& demonstrations,
                                       model::TrainableNetwork& network, Seed seed)
    : config_(config),
      demonstrations_(&demonstrations),
      network_(&network),
      seed_(seed),
      optimizer_({}, network.layout().total),
      order_(demonstrations.actions.size()) {
  PACML_CHECK(
      !order_.empty() && demonstrations.observations.size() == demonstrations.actions.size(),
      "each demonstration has an action");
  PACML_CHECK(config.minibatch_decisions >= 1 && config.learning_rate > 0, "a valid configuration");
  std::iota(order_.begin(), order_.end(), 0U);
  network.prepare(demonstrations.observations);
}

BehaviouralCloning::Pass BehaviouralCloning::pass(const std::function<bool()>& goes_on) {
  Rng rng(derive(seed_, Purpose::kCloning, passes_++));
  Pass pass;
  static_cast<void>(for_each_minibatch(order_,
                                       static_cast<std::size_t>(config_.minibatch_decisions), rng,
                                       [&](std::span<const std::uint32_t> rows) {
                                         if (!goes_on()) return false;
                                         pass.diverged = !learn(rows, pass);
                                         return !pass.diverged;
                                       }));
  const auto decisions = std::max(1.0, static_cast<double>(pass.decisions));
  pass.loss /= decisions;
  pass.agreement /= decisions;
  pass.probability /= decisions;
  return pass;
}

bool BehaviouralCloning::learn(std::span<const std::uint32_t> rows, Pass& sums) {
  const auto width = static_cast<std::size_t>(network_->shape().actions);
  masks_.clear();
  actions_.clear();
  for (const std::uint32_t row : rows) {
    const auto mask = demonstrations_->observations.mask(row);
    masks_.insert(masks_.end(), mask.begin(), mask.end());
    masks_.resize(masks_.size() + width - mask.size(), 0);
    actions_.push_back(demonstrations_->actions[row]);
  }
  const auto size = static_cast<double>(rows.size());
  weights_.assign(rows.size(), static_cast<float>(1 / size));

  const auto outputs = network_->forward_rows(rows);
  if (!model::is_sound(outputs.logits, outputs.values)) return false;
  masked_categorical(outputs.logits, masks_, width, policy_);
  logit_gradients_.assign(outputs.logits.size(), 0.0F);
  value_gradients_.assign(rows.size(), 0.0F);
  sums.loss += size * cross_entropy_loss(policy_, masks_, actions_, config_.probability, weights_,
                                         logit_gradients_);
  sums.decisions += rows.size();
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const auto probs = std::span(policy_.probs).subspan(n * width, width);
    const float given = probs[static_cast<std::size_t>(actions_[n])];
    sums.probability += given;
    sums.agreement += given == std::ranges::max(probs) ? 1 : 0;
  }
  const auto gradient = network_->backward(logit_gradients_, value_gradients_);
  return optimizer_.step(network_->parameters(), gradient, config_.learning_rate).applied;
}

}  // namespace pacml::learner

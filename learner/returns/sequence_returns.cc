#include "learner/returns/sequence_returns.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "common/check.h"
#include "learner/returns/over_time.h"

namespace pacml::learner {

SequenceReturns sequence_returns(const TrainBatch& batch, const MaskedCategorical& policy,
                                 std::span<const float> values,
                                 const SequenceReturnsConfig& config) {
  const std::size_t decisions = batch.decisions();
  std::vector<float> next_values(decisions);
  std::vector<float> discounts(decisions);
  std::vector<float> rewards(decisions);
  SequenceReturns out;
  out.log_rhos.resize(decisions);
  for (std::size_t i = 0; i < decisions; ++i) {
    const auto action = static_cast<std::size_t>(batch.actions[i]);
    out.log_rhos[i] = policy.log_probs[i * policy.actions + action] - batch.behaviour_log_probs[i];
    next_values[i] = values[batch.next_row[i]];
    const double discount = over_time(config.discount, batch.elapsed[i]);
    discounts[i] = batch.terminated[i] != 0 ? 0.0F : static_cast<float>(discount);
    const double reward = batch.rewards[i] - config.reward_rate * double{batch.elapsed[i]};
    rewards[i] = static_cast<float>(config.reward_scale * reward);
  }
  VtraceReturns traced = vtrace({.sequences = batch.sequences,
                                 .log_rhos = out.log_rhos,
                                 .discounts = discounts,
                                 .elapsed = batch.elapsed,
                                 .rewards = rewards,
                                 .values = values.first(decisions),
                                 .next_values = next_values,
                                 .ends = batch.ends},
                                config.vtrace);
  out.targets = std::move(traced.targets);
  out.advantages = std::move(traced.advantages);
  out.ratios = std::move(traced.ratios);
  return out;
}

std::vector<float> generalised_advantages(const SequenceReturns& returns,
                                          std::span<const float> values) {
  const std::size_t decisions = returns.targets.size();
  PACML_CHECK(values.size() >= decisions, "a value for each decision");
  std::vector<float> out(decisions);
  std::ranges::transform(returns.targets, values.first(decisions), out.begin(), std::minus<>());
  return out;
}

}  // namespace pacml::learner

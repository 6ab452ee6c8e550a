#include "learner/returns/unroll_returns.h"

#include <cstddef>

namespace pacml::learner {

UnrollReturns unroll_returns(const TrainBatch& batch, const MaskedCategorical& policy,
                             std::span<const float> values, const UnrollReturnsConfig& config) {
  const std::size_t decisions = batch.decisions();
  std::vector<float> next_values(decisions);
  std::vector<float> discounts(decisions);
  std::vector<float> rewards(decisions);
  UnrollReturns out;
  out.log_rhos.resize(decisions);
  for (std::size_t i = 0; i < decisions; ++i) {
    const auto action = static_cast<std::size_t>(batch.actions[i]);
    out.log_rhos[i] = policy.log_probs[i * policy.actions + action] - batch.behaviour_log_probs[i];
    next_values[i] = values[batch.next_row[i]];
    discounts[i] = batch.terminated[i] != 0 ? 0.0F : static_cast<float>(config.discount);
    rewards[i] = static_cast<float>(config.reward_scale * batch.rewards[i]);
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
                                        config.vtrace);
    out.targets.insert(out.targets.end(), traced.targets.begin(), traced.targets.end());
    out.advantages.insert(out.advantages.end(), traced.advantages.begin(), traced.advantages.end());
  }
  return out;
}

}  // namespace pacml::learner

#pragma once

#include <cstdint>
#include <span>

#include "learner/losses/masked_categorical.h"

namespace pacml::learner {

// PPO's clipped surrogate (Schulman et al. 2017, arXiv:1707.06347, eq. 7), negated:
//
//   L = -sum_n w_n min(r_n A_n, clamp(r_n, 1 - clip, 1 + clip) A_n),   r_n = pi(a_n) / mu(a_n)
//
// and its gradient with respect to the logits, which is added to `logit_gradients` [N, A]: that of
// r_n A_n where the minimum is the first, else 0. The ratio's logarithm is bounded by +-20, so that
// no ratio overflows. All spans [N] but that one; chosen actions are valid (PACML_CHECK). Pure but
// for what is added. Returns L.
double clipped_surrogate_loss(const MaskedCategorical& policy,
                              std::span<const std::int32_t> actions,
                              std::span<const float> behaviour_log_probs,
                              std::span<const float> advantages, double clip,
                              std::span<const float> weights, std::span<float> logit_gradients);

}  // namespace pacml::learner

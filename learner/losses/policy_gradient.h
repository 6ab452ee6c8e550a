#pragma once

#include <cstdint>
#include <span>

#include "learner/losses/masked_categorical.h"

namespace pacml::learner {

// The policy-gradient loss  L = -sum_n w_n A_n log pi(a_n | x_n), whose gradient is
//
//   dL/dlogit_nj = -w_n A_n (1[j = a_n] - pi_j)   over the valid actions.
//
// A decision with one valid action contributes exactly 0. `actions`, `advantages` and `weights` are
// [N], `logit_gradients` is row-major [N, A] and is added to. Pre: actions
// are below A (PACML_CHECK) and valid. Returns L. Pure but for `logit_gradients`.
double policy_gradient_loss(const MaskedCategorical& policy, std::span<const std::int32_t> actions,
                            std::span<const float> advantages, std::span<const float> weights,
                            std::span<float> logit_gradients);

}  // namespace pacml::learner

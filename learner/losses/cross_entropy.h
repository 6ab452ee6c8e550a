#pragma once

#include <cstdint>
#include <span>

#include "learner/losses/masked_categorical.h"

namespace pacml::learner {

// Cross-entropy towards given actions, smoothed (Szegedy et al. 2016, arXiv:1512.00567, section 7):
//
//   L = -sum_n w_n sum_a t_na log pi(a | x_n),   t_na = probability where a is the given action,
//                                                (1 - probability) / (valid_n - 1) where it is not
//
// so that it is least where the given action has `probability`, in (0, 1], and the other valid ones
// share the rest; a single valid action has all. The gradient with respect to the logits,
// w_n (pi - t), is added to `logit_gradients` [N, A]. `actions` and `weights` [N]; given actions
// are valid by `masks` [N, A] (PACML_CHECK). Pure but for what is added. Returns L.
double cross_entropy_loss(const MaskedCategorical& policy, std::span<const std::uint8_t> masks,
                          std::span<const std::int32_t> actions, double probability,
                          std::span<const float> weights, std::span<float> logit_gradients);

}  // namespace pacml::learner

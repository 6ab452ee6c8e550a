#pragma once

#include <span>

namespace pacml::learner {

// The value loss  L = cost/2 sum_n w_n (V_n - target_n)^2, with
// dL/dV_n = cost w_n (V_n - target_n).
// Every span is [N] (PACML_CHECK); `value_gradients` is added to. Returns L. Pure but for
// `value_gradients`.
double value_loss(std::span<const float> values, std::span<const float> targets, double cost,
                  std::span<const float> weights, std::span<float> value_gradients);

}  // namespace pacml::learner

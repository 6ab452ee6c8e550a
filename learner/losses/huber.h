#pragma once

#include <span>

namespace pacml::learner {

// The Huber loss  L = sum_n w_n h(x_n - target_n),  h(e) = e^2 / 2 where |e| <= delta, and
// delta (|e| - delta / 2) beyond: quadratic near 0, with a slope of at most delta. Its gradient is
// dL/dx_n = w_n min(max(x_n - target_n, -delta), delta). An error that is not finite makes L not
// finite. Every span is [N] (PACML_CHECK); `gradients` is added to. Returns L. Pure but for
// `gradients`.
double huber_loss(std::span<const float> predictions, std::span<const float> targets, double delta,
                  std::span<const float> weights, std::span<float> gradients);

}  // namespace pacml::learner

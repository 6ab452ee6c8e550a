#pragma once

#include <span>

#include "learner/losses/masked_categorical.h"

namespace pacml::learner {

// The entropy bonus as a loss  L = -cost sum_n w_n H_n / z_n  over the valid actions, with z_n = 1,
// or log(number of valid actions) where `normalised`, so that a decision among two weighs as much
// as one among ten. With H the entropy in nats,
//
//   dH/dlogit_j = -pi_j (log pi_j + H).
//
// A decision with one valid action contributes exactly 0. `weights` is [N], `logit_gradients` is
// row-major [N, A] and is added to. Returns L. Pure but for `logit_gradients`.
double entropy_loss(const MaskedCategorical& policy, bool normalised, double cost,
                    std::span<const float> weights, std::span<float> logit_gradients);

// The same of  H_n = -sum_a pi_a log(pi_a + offset), whose logarithm has an end: as Placeto's
// released code has it (arXiv:1906.08879). With g_a = log(pi_a + offset) + pi_a / (pi_a + offset),
//
//   dH/dlogit_j = -pi_j (g_j - sum_a pi_a g_a).
//
// Pre: offset > 0 (PACML_CHECK).
double offset_entropy_loss(const MaskedCategorical& policy, double offset, bool normalised,
                           double cost, std::span<const float> weights,
                           std::span<float> logit_gradients);

// How undecided a policy is, in units of the most that it could be, over decisions that offer a
// choice: each H_n / log(number of valid actions).
struct RelativeEntropy {
  double sum = 0;
  double choices = 0;
  [[nodiscard]] double mean() const { return choices > 0 ? sum / choices : 0; }
  RelativeEntropy& operator+=(const RelativeEntropy& other) {
    sum += other.sum;
    choices += other.choices;
    return *this;
  }
};
[[nodiscard]] RelativeEntropy relative_entropy(const MaskedCategorical& policy);

}  // namespace pacml::learner

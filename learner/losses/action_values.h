#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pacml::learner {

// What a network whose heads are ValueHeads::kActions says of the actions of N decisions, against
// what a search found. With Q_na the sum of value and logit and t_na the target, over n's K_n valid
// actions, q_n and m_n their means, and e_n = q_n - m_n:
//
//   L = sum_n w_n [ 1/2 sum_a (Q_na - q_n - (t_na - m_n))^2 + level_cost/2 e_n^2 ]
//
// Which action is better is told from the same futures, so that what they have in common cancels;
// how good the state is, is not, and is trusted less. The value is held, so that all of it is the
// logits' to say: dL/dlogit_na = w_n (Q_na - q_n - (t_na - m_n) + level_cost e_n / K_n).
struct ActionValueLoss {
  double advantages = 0;  // L's first part
  double level = 0;       // ... and its second
  // Sums over n, without weights: of the squares of (Q - q) - (t - m) and of t - m, and the
  // decisions at which the two prefer the same action. Of equals the first is preferred.
  double squared_errors = 0;
  double squared_targets = 0;
  std::size_t agreed = 0;

  ActionValueLoss& operator+=(const ActionValueLoss& other);
};

// `logits` row-major [N, actions], `values` [N]; `masks` [N, actions], each row with a valid
// action; `targets` of the valid actions alone, row after row (PACML_CHECK). Gradients [N, actions]
// are added to. Pure but for them.
[[nodiscard]] ActionValueLoss action_value_loss(std::span<const float> logits,
                                                std::span<const float> values,
                                                std::span<const std::uint8_t> masks,
                                                std::size_t actions, std::span<const float> targets,
                                                double level_cost, std::span<const float> weights,
                                                std::span<float> logit_gradients);

}  // namespace pacml::learner

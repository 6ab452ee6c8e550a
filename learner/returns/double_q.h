#pragma once

#include <cstddef>
#include <span>

namespace pacml::learner {

// Targets of n-step double Q-learning (van Hasselt et al. 2016, arXiv:1509.06461, eq. 4, with the
// return of n steps of Ape-X, arXiv:1803.00933, section 3):
//
//   y_n = R_n + discount_n Qtarget(s'_n, a*),   a* = argmax over valid a of Qonline(s'_n, a).
//
// One network chooses, the other one says what the choice is worth: the maximum of noisy values is
// too large, the value of a choice made elsewhere is not. Where the discount is 0 nothing that is
// said of s' enters, not even what is no number.
//
// `online` and `target` are row-major [N, A], kMaskedLogit for invalid actions; `online` may be the
// logits of a duelling network, whose order is that of its action values. `returns`, `discounts`
// and `out` are [N] (PACML_CHECK). Pure but for `out`.
void double_q_targets(std::span<const float> returns, std::span<const float> discounts,
                      std::span<const float> online, std::span<const float> target,
                      std::size_t actions, std::span<float> out);

}  // namespace pacml::learner

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Action values of a network with two heads (Wang et al. 2016, arXiv:1511.06581, eq. 9): its logits
// are advantages A(s, a), its value is V(s), and
//
//   Q(s, a) = V(s) + A(s, a) - mean of A(s, .) over the valid actions.
//
// The greedy action is that of the logits. Masks are row-major [B, A], 1: valid; a row without a
// valid action, or spans of other sizes, are bugs (PACML_CHECK). What an invalid action's logit
// says enters nothing. Pure but for the spans that are written.
namespace pacml::model {

// `logits` row-major [B, A], `values` [B]; `q` [B, A] is kMaskedLogit for invalid actions. The mean
// is taken in double precision.
void duelling_q_values(std::span<const float> logits, std::span<const float> values,
                       std::span<const std::uint8_t> masks, std::size_t actions,
                       std::span<float> q);

// The gradient of a loss that depends on one action value per row: given `q_gradients` [B] =
// dL/dQ(s_b, chosen_b), adds dL/dlogits to `logit_gradients` [B, A] and dL/dvalues to
// `value_gradients` [B]:
//
//   dQ(s, a)/dA(s, j) = 1[j = a] - 1/n for each of the n valid actions j;   dQ(s, a)/dV(s) = 1.
//
// Pre: chosen actions are valid (PACML_CHECK).
void duelling_gradients(std::span<const std::uint8_t> masks, std::size_t actions,
                        std::span<const std::int32_t> chosen, std::span<const float> q_gradients,
                        std::span<float> logit_gradients, std::span<float> value_gradients);

// The valid action with the greatest value in one row [A] of duelling_q_values(), or of logits; of
// equals the lowest. Values that are not numbers lose against those that are: weights that went
// wrong show in the loss, not here.
[[nodiscard]] int best_valid_action(std::span<const float> q_row);

}  // namespace pacml::model

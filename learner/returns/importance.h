#pragma once

#include <span>

namespace pacml::learner {

// Importance weights of a prioritized replay (Schaul et al. 2016, arXiv:1511.05952, section 3.4):
//
//   w_n = (N P_n)^-beta / max over m of (N P_m)^-beta = (min over m of P_m / P_n)^beta,
//
// in which the number N of stored items cancels. beta 0: all are 1; beta 1: draws weigh as if they
// were uniform. `least` is the smallest probability of the batch, of which `probabilities` may be a
// part; all are above 0, `weights` of the same length (PACML_CHECK) and in [0, 1]. The batch's
// greatest is 1. Pure but for `weights`.
void importance_weights(std::span<const double> probabilities, double least, double beta,
                        std::span<float> weights);

}  // namespace pacml::learner

#pragma once

// The constants of the network that every implementation shares. Alone in a file, because the
// kernels may include nothing that instantiates library code (kernels/kernel.h).
namespace pacml::model {

// Layer normalisation's epsilon, torch's default.
inline constexpr float kNormEpsilon = 1e-5F;

// The logit of an invalid action. Large, finite and negative: its probability is exactly 0 in
// float32, and no NaN can come of it.
inline constexpr float kMaskedLogit = -1.0e9F;

}  // namespace pacml::model

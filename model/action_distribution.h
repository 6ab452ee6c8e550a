#pragma once

#include <span>

#include "common/rng.h"

// The categorical distribution over actions that logits stand for: softmax, in which a masked
// action (kMaskedLogit) has probability exactly 0. Logits are one row [A] of PolicyOutput, finite,
// with at least one action that is not masked (PACML_CHECK). Sums are in double precision and
// relative to the largest logit, so no finite logits overflow. Pure, apart from the generator that
// is passed.
namespace pacml::model {

struct SampledAction {
  int action = 0;
  float log_probability = 0;
};

// Draws an action; one number of the generator. Never a masked one.
[[nodiscard]] SampledAction sample_action(std::span<const float> logits, Rng& rng);

// The most probable action; of equals the lowest.
[[nodiscard]] int best_action(std::span<const float> logits);

// Of one action. 0 for the only valid one; about kMaskedLogit for a masked one: finite.
[[nodiscard]] float log_probability(std::span<const float> logits, int action);

// Of every action, into `out` [A].
void log_probabilities(std::span<const float> logits, std::span<float> out);

// In nats: 0 if one action is certain, log n if n are equally probable.
[[nodiscard]] float entropy(std::span<const float> logits);

}  // namespace pacml::model

#include "learner/losses/entropy.h"

#include <cmath>
#include <cstddef>

#include "common/check.h"

namespace pacml::learner {
namespace {

// What a nat of decision n's entropy costs.
double price(const MaskedCategorical& policy, std::size_t n, bool normalised, double cost,
             std::span<const float> weights) {
  const double unit = normalised ? std::log(static_cast<double>(policy.valid[n])) : 1.0;
  return cost * weights[n] / unit;
}

void check_sizes(const MaskedCategorical& policy, std::span<const float> weights,
                 std::span<const float> logit_gradients) {
  PACML_CHECK(
      weights.size() == policy.size() && logit_gradients.size() == policy.size() * policy.actions,
      "the loss has one weight per decision");
}

}  // namespace

double entropy_loss(const MaskedCategorical& policy, bool normalised, double cost,
                    std::span<const float> weights, std::span<float> logit_gradients) {
  const std::size_t width = policy.actions;
  check_sizes(policy, weights, logit_gradients);
  double loss = 0;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    if (policy.valid[n] < 2) continue;
    const float entropy = policy.entropies[n];
    const auto scale = static_cast<float>(price(policy, n, normalised, cost, weights));
    loss -= static_cast<double>(scale) * static_cast<double>(entropy);
    // Invalid actions have probability 0, so their logits get none.
    for (std::size_t a = 0; a < width; ++a) {
      const std::size_t i = n * width + a;
      logit_gradients[i] += scale * policy.probs[i] * (policy.log_probs[i] + entropy);
    }
  }
  return loss;
}

double offset_entropy_loss(const MaskedCategorical& policy, double offset, bool normalised,
                           double cost, std::span<const float> weights,
                           std::span<float> logit_gradients) {
  PACML_CHECK(offset > 0, "an offset");
  check_sizes(policy, weights, logit_gradients);
  const std::size_t width = policy.actions;
  double loss = 0;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    if (policy.valid[n] < 2) continue;
    const double scale = price(policy, n, normalised, cost, weights);
    const auto probs = std::span(policy.probs).subspan(n * width, width);
    const auto slope = [offset](double p) { return std::log(p + offset) + p / (p + offset); };
    double mean = 0;
    for (const float p : probs) {
      mean += double{p} * slope(p);
      loss += scale * double{p} * std::log(double{p} + offset);
    }
    // Invalid actions have probability 0, so their logits get none.
    for (std::size_t a = 0; a < width; ++a) {
      const double p = probs[a];
      logit_gradients[n * width + a] += static_cast<float>(scale * p * (slope(p) - mean));
    }
  }
  return loss;
}

RelativeEntropy relative_entropy(const MaskedCategorical& policy) {
  RelativeEntropy out;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    if (policy.valid[n] < 2) continue;
    out.sum += policy.entropies[n] / std::log(static_cast<double>(policy.valid[n]));
    out.choices += 1;
  }
  return out;
}

}  // namespace pacml::learner

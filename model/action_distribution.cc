#include "model/action_distribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/check.h"
#include "model/network_constants.h"

namespace pacml::model {
namespace {

double largest(std::span<const float> logits) {
  PACML_CHECK(!logits.empty(), "a distribution over no actions");
  const float max = *std::ranges::max_element(logits);
  PACML_CHECK(std::isfinite(max) && max > kMaskedLogit, "logits without a valid, finite action");
  return double{max};
}

// exp(logit - max). A masked action is told apart first: a library's exp is slow where it
// underflows.
double weight(float logit, double max) {
  return logit == kMaskedLogit ? 0.0 : std::exp(double{logit} - max);
}

struct Sums {
  double max;
  double total;  // of the weights; at least 1
};

Sums sums(std::span<const float> logits) {
  Sums s{largest(logits), 0.0};
  for (const float logit : logits) s.total += weight(logit, s.max);
  PACML_CHECK(std::isfinite(s.total), "a logit is not a number");
  return s;
}

// Differences first: next to a huge logit, log(total) would be rounded away.
float log_share(float logit, const Sums& s) {
  return static_cast<float>(double{logit} - s.max - std::log(s.total));
}

}  // namespace

SampledAction sample_action(std::span<const float> logits, Rng& rng) {
  const Sums s = sums(logits);
  double left = rng.uniform() * s.total;
  std::size_t drawn = 0;
  for (std::size_t a = 0; a < logits.size(); ++a) {
    const double share = weight(logits[a], s.max);
    if (share == 0) continue;
    drawn = a;  // the last one stands where rounding carries `left` past the end
    if (left < share) break;
    left -= share;
  }
  return {static_cast<int>(drawn), log_share(logits[drawn], s)};
}

int best_action(std::span<const float> logits) {
  static_cast<void>(largest(logits));
  return static_cast<int>(std::ranges::max_element(logits) - logits.begin());
}

float log_probability(std::span<const float> logits, int action) {
  PACML_CHECK(action >= 0 && static_cast<std::size_t>(action) < logits.size(), "no such action");
  return log_share(logits[static_cast<std::size_t>(action)], sums(logits));
}

void log_probabilities(std::span<const float> logits, std::span<float> out) {
  PACML_CHECK(out.size() == logits.size(), "one log-probability per action");
  const Sums s = sums(logits);
  for (std::size_t a = 0; a < logits.size(); ++a) out[a] = log_share(logits[a], s);
}

float entropy(std::span<const float> logits) {
  // H = log Z - sum p (l - max), with Z = sum exp(l - max).
  const Sums s = sums(logits);
  double mean = 0;
  for (const float logit : logits) {
    mean += weight(logit, s.max) / s.total * (double{logit} - s.max);
  }
  return static_cast<float>(std::max(std::log(s.total) - mean, 0.0));
}

}  // namespace pacml::model

#include "common/rng.h"

#include <cmath>
#include <numbers>

#include "common/check.h"

namespace pacml {

Rng::Rng(Seed seed) {
  std::uint64_t z = seed.get();
  for (auto& word : state_) {
    z += kGoldenGamma;
    word = mix64(z);
  }
}

std::uint64_t Rng::below(std::uint64_t n) {
  PACML_CHECK(n > 0, "an empty range has no element to draw");
  const std::uint64_t limit = n * (UINT64_MAX / n);  // reject the tail that would bias small values
  std::uint64_t draw = next();
  while (draw >= limit) draw = next();
  return draw % n;
}

double Rng::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

std::size_t Rng::categorical(std::span<const double> weights) {
  double total = 0;
  for (const double w : weights) total += w;
  PACML_CHECK(total > 0 && std::isfinite(total), "categorical weights need a positive finite sum");
  double left = uniform() * total;
  std::size_t last_positive = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    if (left < weights[i]) return i;
    left -= weights[i];
    last_positive = i;
  }
  return last_positive;  // rounding carried `left` past the end
}

void Rng::restore(const State& state) {
  state_ = state.words;
  spare_ = state.spare_normal;
  has_spare_ = state.has_spare;
}

}  // namespace pacml

#include "actor/exploration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/check.h"
#include "model/duelling.h"
#include "model/network_constants.h"

namespace pacml::actor {

std::vector<std::string> validate(const ExplorationConfig& c) {
  std::vector<std::string> problems;
  // Written so that NaN is a problem, too.
  if (!(c.base >= 0 && c.base <= 1)) problems.emplace_back("base: must be from 0 to 1");
  if (!(c.exponent >= 0 && std::isfinite(c.exponent))) {
    problems.emplace_back("exponent: must be finite and at least 0");
  }
  return problems;
}

double ladder_epsilon(const ExplorationConfig& config, std::size_t i, std::size_t n) {
  PACML_CHECK(i < n, "a step of the ladder");
  if (n == 1) return config.base;
  const double height = static_cast<double>(i) / static_cast<double>(n - 1);
  return std::pow(config.base, 1 + config.exponent * height);
}

std::vector<double> ladder_of(const ExplorationConfig& config, ActorId actor, std::size_t actors,
                              std::size_t environments) {
  PACML_CHECK(actors > 0, "a ladder of at least one actor");
  const std::size_t first = actor.get() % actors * environments;
  std::vector<double> epsilons;
  for (std::size_t b = 0; b < environments; ++b) {
    epsilons.push_back(ladder_epsilon(config, first + b, actors * environments));
  }
  return epsilons;
}

int epsilon_greedy(std::span<const float> values, double epsilon, Rng& rng) {
  if (rng.uniform() >= epsilon) return model::best_valid_action(values);
  const auto valid = [](float value) { return value != model::kMaskedLogit; };
  const auto choices = std::ranges::count_if(values, valid);
  PACML_CHECK(choices > 0, "a state without a valid action");
  std::uint64_t left = rng.below(static_cast<std::uint64_t>(choices));
  std::size_t action = 0;
  while (!valid(values[action]) || left-- > 0) ++action;
  return static_cast<int>(action);
}

}  // namespace pacml::actor

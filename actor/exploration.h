#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/ids.h"
#include "common/rng.h"

// How Ape-X explores (Horgan et al. 2018, arXiv:1803.00933): every environment acts greedily but
// for its own, fixed share of random actions.
namespace pacml::actor {

struct ExplorationConfig {
  double base = 0.4;    // the largest share of random actions; from 0 to 1
  double exponent = 7;  // the smallest is base^(1 + exponent); >= 0
  bool operator==(const ExplorationConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ExplorationConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("base", c.base);
  v("exponent", c.exponent);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const ExplorationConfig& config);

// The ladder's step `i` of `n`: base^(1 + exponent i / (n - 1)); base where n is 1. Pure.
[[nodiscard]] double ladder_epsilon(const ExplorationConfig& config, std::size_t i, std::size_t n);

// The steps of one actor's environments, on a ladder over the environments of all `actors`; an
// actor beyond them starts again at the first. Pure.
[[nodiscard]] std::vector<double> ladder_of(const ExplorationConfig& config, ActorId actor,
                                            std::size_t actors, std::size_t environments);

// With probability `epsilon` any valid action, all alike; otherwise the one of the greatest value,
// of equals the lowest. `values`: one row [A] of action values or of logits, kMaskedLogit where
// invalid. Pre: a valid action.
[[nodiscard]] int epsilon_greedy(std::span<const float> values, double epsilon, Rng& rng);

}  // namespace pacml::actor

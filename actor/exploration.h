#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
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
  // Decisions that a random action is repeated for, on average; >= 1. A single odd decision shows
  // nothing where actions only pay off together, as degrees do that fill a cluster without gaps.
  double persistence = 1;
  bool operator==(const ExplorationConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ExplorationConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("base", c.base);
  v("exponent", c.exponent);
  v("persistence", c.persistence);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const ExplorationConfig& config);

// The ladder's step `i` of `n`: base^(1 + exponent i / (n - 1)); base where n is 1. Pure.
[[nodiscard]] double ladder_epsilon(const ExplorationConfig& config, std::size_t i, std::size_t n);

// The steps of one actor's environments, on a ladder over the environments of all `actors`; an
// actor beyond them starts again at the first. Pure.
[[nodiscard]] std::vector<double> ladder_of(const ExplorationConfig& config, ActorId actor,
                                            std::size_t actors, std::size_t environments);

// Acts greedily in many environments but for random actions: any valid one, all alike, which is
// then repeated, while it is valid, for a geometric number of decisions (Dabney, Ostrovski and
// Barreto 2021, arXiv:2006.01782). Thread-confined.
class EpsilonGreedy {
 public:
  // `epsilons` [B]: the share of decisions that are random or repeat a random one. `persistence`:
  // their mean number; 1: nothing is repeated.
  EpsilonGreedy(std::vector<double> epsilons, double persistence, Seed seed);

  // For an agent of environment `b`, who repeats its own actions only. `values`: one row [A] of
  // action values or of logits, kMaskedLogit where invalid. Of equals the lowest is greedy. Pre: a
  // valid action.
  [[nodiscard]] int choose(std::size_t b, int agent, std::span<const float> values);

 private:
  struct Held {
    int action = 0;
    std::uint64_t left = 0;  // decisions
  };
  [[nodiscard]] std::uint64_t draw_duration();

  std::vector<double> starts_;  // [B], probability that a greedy spell ends
  double persistence_;
  std::vector<Held> held_;  // [agents that have decided, B]
  Rng rng_;
  std::vector<int> choices_;  // scratch
};

}  // namespace pacml::actor

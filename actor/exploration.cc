#include "actor/exploration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "common/check.h"
#include "model/duelling.h"
#include "model/network_constants.h"

namespace pacml::actor {

std::vector<std::string> validate(const ExplorationConfig& c) {
  std::vector<std::string> problems;
  // Written so that NaN is a problem, too.
  if (!(c.base >= 0 && c.base <= 1)) problems.emplace_back("base: must be from 0 to 1");
  if (!(c.exponent >= 0 && c.exponent <= 1000)) {
    problems.emplace_back("exponent: must be from 0 to 1000");
  }
  if (!(c.persistence >= 1 && c.persistence <= 1e6)) {
    problems.emplace_back("persistence: must be from 1 to 1e6");
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

EpsilonGreedy::EpsilonGreedy(std::vector<double> epsilons, double persistence, Seed seed)
    : starts_(std::move(epsilons)),
      persistence_(persistence),
      held_(starts_.size()),
      rng_(derive(seed, Purpose::kExploration, 0)) {
  // Random spells last `persistence` decisions and greedy ones (1 - p) / p: the share of the former
  // is epsilon.
  for (double& p : starts_) {
    if (p > 0) p = p / (p + persistence * (1 - p));
  }
}

std::uint64_t EpsilonGreedy::draw_duration() {
  if (persistence_ == 1) return 1;
  const double over = std::log1p(-rng_.uniform()) / std::log1p(-1 / persistence_);
  return 1 + static_cast<std::uint64_t>(over);
}

int EpsilonGreedy::choose(std::size_t b, int agent, std::span<const float> values) {
  const auto valid = [&values](std::size_t action) {
    return values[action] != model::kMaskedLogit;
  };
  const std::size_t place = static_cast<std::size_t>(agent) * starts_.size() + b;
  if (place >= held_.size()) held_.resize(place + 1);
  Held& held = held_[place];
  if (held.left == 0 && rng_.uniform() < starts_[b]) {
    choices_.clear();
    for (std::size_t action = 0; action < values.size(); ++action) {
      if (valid(action)) choices_.push_back(static_cast<int>(action));
    }
    PACML_CHECK(!choices_.empty(), "a state without a valid action");
    held = {choices_[rng_.below(choices_.size())], draw_duration()};
  }
  if (held.left > 0) {
    --held.left;
    if (valid(static_cast<std::size_t>(held.action))) return held.action;
  }
  return model::best_valid_action(values);
}

}  // namespace pacml::actor

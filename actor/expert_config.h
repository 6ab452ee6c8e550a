#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace pacml::actor {

// How the actors of expert iteration look ahead, and how they act meanwhile.
struct ExpertConfig {
  std::int64_t futures = 5;   // that are drawn for each decision, for all its actions; 1..1000
  std::int64_t horizon = 12;  // decisions of each that are played, the first included; 1..10000
  // With the weights of the first `first_versions` updates the horizon is this one, or the other if
  // that is longer: what follows is not known yet, and must be played.
  std::int64_t first_horizon = 40;   // 1..10000
  std::int64_t first_versions = 50;  // >= 0
  double discount = 0.99;  // gamma, of rewards and of what follows the horizon; above 0, to 1
  // Rewards count less what the policy gets in the same time on average, so that values are
  // differences to that (Naik et al. 2024, arXiv:2405.09999) and the discount may come near 1: for
  // tasks that go on and on. Not for those where a decision may end the episode.
  bool centre_rewards = false;
  double exploration = 0.1;  // share of random actions; the others are the policy's; from 0 to 1
  bool operator==(const ExpertConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ExpertConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("futures", c.futures);
  v("horizon", c.horizon);
  v("first_horizon", c.first_horizon);
  v("first_versions", c.first_versions);
  v("discount", c.discount);
  v("centre_rewards", c.centre_rewards);
  v("exploration", c.exploration);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const ExpertConfig& config);

}  // namespace pacml::actor

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace pacml::actor {

// What an actor of Ape-X turns its steps into.
struct NstepConfig {
  std::int64_t n_step = 3;  // rewards of a transition, where its episode has as many; 1..100
  double discount = 0.99;   // gamma; from 0 to 1
  double reward_scale = 1;  // rewards are multiplied by it; > 0
  bool operator==(const NstepConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, NstepConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("n_step", c.n_step);
  v("discount", c.discount);
  v("reward_scale", c.reward_scale);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const NstepConfig& config);

}  // namespace pacml::actor

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace pacml::actor {

// A message holds at most 524288 decisions.
struct ActorConfig {
  std::int64_t environments = 32;   // stepped in lockstep by one actor; 1..4096
  std::int64_t unroll_length = 50;  // decisions of each environment in a message; 1..4096
  bool operator==(const ActorConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ActorConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("environments", c.environments);
  v("unroll_length", c.unroll_length);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const ActorConfig& config);

}  // namespace pacml::actor

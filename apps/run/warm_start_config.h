#pragma once

#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"

namespace pacml::apps {

// What the first policy prefers.
enum class WarmStart {
  kNone,          // nothing: close to uniform
  kBestConstant,  // the constant degree that blocks least on tuning episodes
};
constexpr auto enum_names(WarmStart) {
  return std::to_array<EnumName<WarmStart>>(
      {{"none", WarmStart::kNone}, {"best_constant", WarmStart::kBestConstant}});
}

// Degrees compete for contiguous blocks of servers: in a cluster full of jobs of one degree every
// other degree does badly. A policy gradient therefore ends at whichever degree the first,
// near-uniform policy happens to favour. Starting at the best constant degree, found by simulation
// within the first second of a run, leaves the choice of that basin to a measurement.
struct WarmStartConfig {
  WarmStart policy = WarmStart::kNone;
  double probability =
      0.9;           // that the first policy gives the preferred degree, where valid; in (0, 1)
  int episodes = 5;  // tuning episodes per degree; >= 1
  // Folder of a run, whatever its algorithm and its setting, whose policy a new run starts with: of
  // the same network, for decisions of the same shape; "": none. With `policy: none`.
  std::string from;
  bool operator==(const WarmStartConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, WarmStartConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("policy", c.policy);
  v("probability", c.probability);
  v("episodes", c.episodes);
  v("from", c.from);
}

[[nodiscard]] std::vector<std::string> validate(const WarmStartConfig& config);

}  // namespace pacml::apps

#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"

namespace pacml::apps {

// What the first policy prefers.
enum class WarmStart {
  kNone,          // nothing: close to uniform
  kBestConstant,  // the constant degree that blocks least on tuning episodes
  kImitate,       // what a baseline does
};
constexpr auto enum_names(WarmStart) {
  return std::to_array<EnumName<WarmStart>>({{"none", WarmStart::kNone},
                                             {"best_constant", WarmStart::kBestConstant},
                                             {"imitate", WarmStart::kImitate}});
}

// Degrees compete for contiguous blocks of servers: in a cluster full of jobs of one degree every
// other degree does badly. A policy gradient therefore ends at whichever degree the first,
// near-uniform policy happens to favour. Starting at the best constant degree, found by simulation
// within the first second of a run, leaves the choice of that basin to a measurement.
//
// Where a good rule is known, training may start at what it does (`imitate`): on decisions of
// episodes that the rule plays, the policy is moved towards them by behavioural cloning
// (learner/behaviour_cloning.h), before any actor is served.
struct WarmStartConfig {
  WarmStart policy = WarmStart::kNone;
  // That the first policy gives the preferred degree, where valid, or is to give what the teacher
  // does; in (0, 1).
  double probability = 0.9;
  int episodes = 5;                        // tuning episodes per degree; >= 1
  std::string teacher = {};                // imitate: a baseline, e.g. "min_feasible"
  std::int64_t decisions = 50'000;         // ... of which so many are imitated; 1..1e7
  std::int64_t passes = 10;                // ... over all of them; 1..1000
  std::int64_t minibatch_decisions = 512;  // ... 1..65536
  double learning_rate = 1e-3;             // ... above 0, to 1
  // Folder of a run, whatever its algorithm and its setting, whose policy a new run starts with: of
  // the same network, for decisions of the same shape; "": none. With `policy: none`.
  std::string from = {};
  bool operator==(const WarmStartConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, WarmStartConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("policy", c.policy);
  v("probability", c.probability);
  v("episodes", c.episodes);
  v("teacher", c.teacher);
  v("decisions", c.decisions);
  v("passes", c.passes);
  v("minibatch_decisions", c.minibatch_decisions);
  v("learning_rate", c.learning_rate);
  v("from", c.from);
}

[[nodiscard]] std::vector<std::string> validate(const WarmStartConfig& config);

}  // namespace pacml::apps

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/evaluation/eval_result.h"

namespace pacml::apps {

// What would have to be said for the same comparison to be made again.
struct EvalOrigin {
  std::string program;  // version()
  std::string config;   // the configuration's file, as it was named; so the next two
  std::vector<std::string> overrides;
  std::string profiles;
  std::int64_t seed = 0;           // the configuration's
  std::int64_t first_episode = 0;  // of the seed's held-out ones
};

// The comparison for programs, indented, ending with a newline:
//   {"objective": name,
//    "policies": [{"name", "learned", "seeds": [{"seed", "decisions", "return", metric: value}],
//                  metric: {"mean", "ci95"}, ...,
//                  "method": name, "difference": {"from", "mean", "ci95", "episodes"}}],
//    "methods": [{"name", "trainings": [names], "mean", "ci95", "median", "least", "most",
//                 "difference"}],
//    "origin": {"pacml", "config", "set", "profiles", "seed", "first_episode"}}
// with the metrics of the task by name. "difference": paired, in the objective, from the best
// policy that nobody trained; not there without one, nor is it that one's. "method" and "methods"
// are there where several trainings are of one. NaN is null. Pure.
[[nodiscard]] std::string to_json(const EvalResult& result,
                                  const std::optional<EvalOrigin>& origin = std::nullopt);

}  // namespace pacml::apps

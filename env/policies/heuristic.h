#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/ids.h"
#include "env/tasks/partitioning.h"

namespace pacml::env {

// A baseline for the partitioning task. Thread-confined.
class Heuristic {
 public:
  virtual ~Heuristic() = default;
  // Called at the start of an episode, so that what a policy draws is a function of the seed.
  virtual void reset(Seed /*seed*/) {}
  // The action for the waiting job; always valid under env.mask().
  [[nodiscard]] virtual int act(const PartitioningEnv& env) = 0;
};

// Names that make_heuristic knows, with one line each on what it does.
struct HeuristicName {
  std::string_view name;
  std::string_view description;
};
[[nodiscard]] std::vector<HeuristicName> heuristic_names();

// "no_parallelism", "min_parallelism", "max_parallelism", "sip_ml" or "sip_ml:M", "acceptable_jct"
// (alias para_min), "para_max" (sip_ml:16), "random", "constant:K", "min_feasible". UserError for
// another name, with the nearest one, and for a K or M that is no whole number >= 0.
[[nodiscard]] std::unique_ptr<Heuristic> make_heuristic(std::string_view name);

// True when `name` (up to a colon) is one that make_heuristic knows.
[[nodiscard]] bool is_heuristic(std::string_view name);

}  // namespace pacml::env

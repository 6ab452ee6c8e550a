#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/tasks/ramp/config.h"

namespace pacml::env {

// The job placement shaping task: a rule has chosen how far to partition each job, the agent
// chooses the block of servers; or, jointly, both.
struct PlacementShapingConfig : RampTaskConfig {
  std::string degree = "para_max";  // the rule (env/tasks/ramp/degree_rule.h); not read where joint
  bool joint = false;               // the agent chooses the degree, too
  int max_blocks = 64;              // that are offered of each degree, evenly among the free ones
  bool operator==(const PlacementShapingConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, PlacementShapingConfig>
void visit_fields(Config& c, Visitor&& v) {
  visit_ramp_fields(c, v);
  v("degree", c.degree);
  v("joint", c.joint);
  v("max_blocks", c.max_blocks);
}

[[nodiscard]] std::vector<std::string> validate(const PlacementShapingConfig& config);

// What a decision shows: the waiting job's graph, the cluster's servers, and the candidates, of
// which the first refuses the job, each with its degree and the number of its block. Pre:
// validate(config.ramp) holds.
[[nodiscard]] ObservationSpec observation_spec(const PlacementShapingConfig& config);

}  // namespace pacml::env

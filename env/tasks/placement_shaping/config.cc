#include "env/tasks/placement_shaping/config.h"

#include "common/result.h"
#include "env/tasks/ramp/cluster_view.h"
#include "env/tasks/ramp/degree_rule.h"

namespace pacml::env {
namespace {

constexpr int kMostBlocks = 512;

std::vector<int> possible_degrees(const PlacementShapingConfig& c) {
  return degrees_with_blocks(Topology(c.ramp.topology, c.max_partitions_per_op),
                             c.max_partitions_per_op);
}

std::size_t num_degrees(const PlacementShapingConfig& c) {
  return c.joint ? possible_degrees(c).size() : 1;
}

}  // namespace

ObservationSpec observation_spec(const PlacementShapingConfig& c) {
  ObservationSpec spec;
  spec.slots = {{.name = "job", .node_width = 5, .edge_width = 2},
                servers_slot(ServersShown::kEach, topologies(c))};
  spec.globals = cluster_globals(c.recent_arrivals > 0);
  // Refusing; of each degree, first fit and the blocks.
  spec.candidates.most =
      static_cast<std::uint32_t>(1 + num_degrees(c) * (1 + static_cast<std::size_t>(c.max_blocks)));
  spec.candidates.vary = true;
  spec.candidates.features = {{"degree", "pieces"}, {"block", "number; 0: first fit"}};
  spec.candidates.derived = true;
  return spec;
}

std::vector<std::string> validate(const PlacementShapingConfig& c) {
  auto problems = validate_ramp(c);
  try {
    static_cast<void>(make_degree_rule(c.degree));
  } catch (const UserError& error) {
    problems.push_back(std::string("degree: ") + error.what());
  }
  if (c.max_blocks < 1 || c.max_blocks > kMostBlocks) {
    problems.push_back("max_blocks: must be in 1.." + std::to_string(kMostBlocks));
  }
  if (c.cluster.lookahead_cache == LookaheadCache::kModelDegree) {
    problems.emplace_back(
        "cluster.lookahead_cache: model_degree makes how long a job runs independent of where it "
        "is "
        "placed, which is what this task decides; set it to placement");
  }
  if (!validate(c.ramp).empty() || !problems.empty()) return problems;
  if (!c.joint) {
    const auto problem = constant_problem(c.degree, [&] { return possible_degrees(c); });
    if (problem) problems.push_back("degree: " + *problem);
  }
  if (const int servers = num_servers(c.ramp.topology); servers > kMostServersShown) {
    problems.push_back("ramp.topology: at most " + std::to_string(kMostServersShown) +
                       " servers can be shown one by one, and it has " + std::to_string(servers));
  } else if (const auto most = observation_spec(c).candidates.most;
             most > ObservationLimits{}.max_candidates) {
    problems.push_back("max_blocks: makes up to " + std::to_string(most) +
                       " candidates, more than " +
                       std::to_string(ObservationLimits{}.max_candidates));
  }
  return problems;
}

}  // namespace pacml::env

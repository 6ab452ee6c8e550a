#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/tasks/ramp/cluster_view.h"
#include "env/tasks/ramp/config.h"

namespace pacml::env {

enum class ObservationKind {
  kPaper,       // the published 17 graph features: how many servers are in use, but not which
  kCluster,     // each degree by the cluster that it would leave behind, server by server
                // (env/tasks/ramp/cluster_view.h)
  kAnyCluster,  // the same by shares of its servers, however many there are
};
constexpr auto enum_names(ObservationKind) {
  return std::to_array<EnumName<ObservationKind>>({{"paper", ObservationKind::kPaper},
                                                   {"cluster", ObservationKind::kCluster},
                                                   {"any_cluster", ObservationKind::kAnyCluster}});
}

// The job partitioning task (PAC-ML). Defaults: the paper's setting.
struct PartitioningConfig : RampTaskConfig {
  ObservationKind observation = ObservationKind::kPaper;
  bool apply_action_mask = true;  // false: an invalid action counts as 0 instead of being an error
  bool operator==(const PartitioningConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, PartitioningConfig>
void visit_fields(Config& c, Visitor&& v) {
  visit_ramp_fields(c, v);
  v("further_topologies", c.further_topologies);
  v("observation", c.observation);
  v("apply_action_mask", c.apply_action_mask);
}

[[nodiscard]] std::vector<std::string> validate(const PartitioningConfig& config);

// How decisions show the servers; nullopt: they do not.
[[nodiscard]] std::optional<ServersShown> servers_shown(const PartitioningConfig& config);

// What a decision shows: the waiting job's graph, `observation`'s numbers, and the degrees, of
// which candidate 0 refuses the job. Pre: validate(config.ramp) holds.
[[nodiscard]] ObservationSpec observation_spec(const PartitioningConfig& config);

}  // namespace pacml::env

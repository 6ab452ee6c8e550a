#include "env/tasks/partitioning/degree_observation.h"

#include <algorithm>

#include "common/check.h"
#include "env/tasks/partitioning/degree_candidates.h"
#include "env/tasks/partitioning/paper_observation.h"
#include "env/tasks/ramp/degree_rule.h"

namespace pacml::env {

DegreeObservation::DegreeObservation(const PartitioningTask& task)
    : task_(&task),
      globals_(static_cast<std::size_t>(task.spec().num_globals())),
      mask_(static_cast<std::size_t>(task.spec().num_actions())),
      shown_mask_(mask_.size()) {
  if (const auto shown = servers_shown(task.config())) slot_ = task.slot_shown(*shown);
}

void DegreeObservation::look_at(const ClusterSight& cluster, const PoolRanges& ranges,
                                const RecentArrivals& recent) {
  graph_ = static_cast<std::uint16_t>(cluster.waiting_job().model);
  write_degree_mask(cluster, mask_);
  if (!slot_) {
    write_paper_globals(cluster, ranges, globals_);
    shown_mask_ = mask_;
  } else {
    const RampCluster& shape = task_->cluster_of(cluster.memo().topology());
    shown_.look_at(cluster, recent, {*slot_, shape.slot, shape.graph});
    write_degree_candidates(cluster, mask_, shown_mask_, placements_);
  }
}

void DegreeObservation::write(Observations& out) const {
  const auto nodes = slot_ ? shown_.nodes() : std::span<const std::uint32_t>{};
  const ObservationRow row = out.append({.candidates = 0, .nodes = nodes});
  PACML_CHECK(row.globals.size() == globals_.size() && row.mask.size() == shown_mask_.size(),
              "a store of another shape than the spec's");
  row.graph[kJobSlot] = graph_;
  if (!slot_) {
    std::ranges::copy(globals_, row.globals.begin());
  } else {
    shown_.write(row);
  }
  std::ranges::copy(shown_mask_, row.mask.begin());
}

}  // namespace pacml::env

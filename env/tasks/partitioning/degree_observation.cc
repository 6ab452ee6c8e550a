#include "env/tasks/partitioning/degree_observation.h"

#include <algorithm>

#include "common/check.h"
#include "env/tasks/partitioning/degree_candidates.h"
#include "env/tasks/partitioning/paper_observation.h"
#include "env/tasks/ramp/degree_rule.h"

namespace pacml::env {

DegreeObservation::DegreeObservation(const PartitioningTask& task)
    : kind_(task.config().observation),
      slot_(task.slot()),
      globals_(static_cast<std::size_t>(task.spec().num_globals())),
      shown_(task.make_shown_cluster()),
      mask_(static_cast<std::size_t>(task.spec().num_actions())),
      shown_mask_(mask_.size()) {}

void DegreeObservation::look_at(const ClusterSight& cluster, const PoolRanges& ranges,
                                const RecentArrivals& recent) {
  graph_ = static_cast<std::uint16_t>(cluster.waiting_job().model);
  write_degree_mask(cluster, mask_);
  if (kind_ == ObservationKind::kPaper) {
    write_paper_globals(cluster, ranges, globals_);
    shown_mask_ = mask_;
  } else {
    shown_.look_at(cluster, recent, slot_);
    write_degree_candidates(cluster, mask_, shown_mask_);
  }
}

void DegreeObservation::write(Observations& out) const {
  // The paper's shows no nodes that change.
  const ObservationRow row = out.append({.candidates = 0, .nodes = shown_.nodes()});
  PACML_CHECK(row.globals.size() == globals_.size() && row.mask.size() == shown_mask_.size(),
              "a store of another shape than the spec's");
  row.graph[kJobSlot] = graph_;
  if (kind_ == ObservationKind::kPaper) {
    std::ranges::copy(globals_, row.globals.begin());
  } else {
    shown_.write(row);
  }
  std::ranges::copy(shown_mask_, row.mask.begin());
}

}  // namespace pacml::env

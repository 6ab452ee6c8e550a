#include "env/tasks/partitioning/environment.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "env/tasks/partitioning/degree_candidates.h"
#include "env/tasks/partitioning/paper_observation.h"
#include "env/tasks/ramp/cluster_view.h"
#include "env/tasks/ramp/degree_rule.h"

namespace pacml::env {

PartitioningEnv::PartitioningEnv(std::shared_ptr<const PartitioningTask> task,
                                 std::shared_ptr<ExecutionMemo> memo)
    : RampEnvironment(task, std::move(memo)),
      task_(std::move(task)),
      globals_(static_cast<std::size_t>(spec().num_globals())),
      shown_(task_->make_shown_cluster()),
      mask_(static_cast<std::size_t>(spec().num_actions())),
      shown_mask_(mask_.size()) {}

JobDecision PartitioningEnv::decision_of(int action) const {
  if (mask_[static_cast<std::size_t>(action)] == 0) {
    PACML_CHECK(!task_->config().apply_action_mask, "the action is masked");
    action = 0;
  }
  return {.degree = action};
}

void PartitioningEnv::job_waits() {
  graph_ = static_cast<std::uint16_t>(cluster().queued()->model);
  write_degree_mask(cluster(), mask_);
  if (task_->config().observation == ObservationKind::kPaper) {
    write_paper_globals(cluster(), ranges(), globals_);
    shown_mask_ = mask_;
  } else {
    shown_.look_at(cluster(), recent(), task_->slot());
    write_degree_candidates(cluster(), mask_, shown_mask_);
  }
}

void PartitioningEnv::observe(Observations& out) const {
  const bool is_paper = task_->config().observation == ObservationKind::kPaper;
  // The paper's shows no nodes that change.
  const ObservationRow row = out.append({.candidates = 0, .nodes = shown_.nodes()});
  PACML_CHECK(row.globals.size() == globals_.size() && row.mask.size() == shown_mask_.size(),
              "a store of another shape than the spec's");
  row.graph[kJobSlot] = graph_;
  if (is_paper) {
    std::copy(globals_.begin(), globals_.end(), row.globals.begin());
  } else {
    shown_.write(row);
  }
  std::copy(shown_mask_.begin(), shown_mask_.end(), row.mask.begin());
}

std::unique_ptr<Environment> PartitioningEnv::clone() const {
  return std::make_unique<PartitioningEnv>(*this);
}

std::string PartitioningEnv::describe(int action) const {
  return action == 0 ? "refuse the job" : "degree " + std::to_string(action);
}

}  // namespace pacml::env

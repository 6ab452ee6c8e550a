#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/rng.h"
#include "env/tasks/placement_shaping/task.h"
#include "env/tasks/ramp/degree_rule.h"
#include "env/tasks/ramp/environment.h"

namespace pacml::env {

// Candidate 0 refuses the waiting job. Where a rule has chosen its degree, candidate 1 is RAMP's
// own first fit, whatever comes of it; the others are the free blocks on which the job would be
// placed as a whole, would meet its limit and would end in time, as far as they differ from first
// fit and from one another. Jointly, the same for each degree that may be chosen, first fit as the
// blocks. The job of a degree of 0 can only be refused. Thread-confined.
class PlacementShapingEnv final : public RampEnvironment {
 public:
  // `memos`: the thread's, made by the task.
  PlacementShapingEnv(std::shared_ptr<const PlacementShapingTask> task,
                      std::shared_ptr<RampMemos> memos);
  // With memos of its own.
  explicit PlacementShapingEnv(const std::shared_ptr<const PlacementShapingTask>& task)
      : PlacementShapingEnv(task, task->make_memos()) {}
  PlacementShapingEnv(const PlacementShapingEnv& other);
  PlacementShapingEnv& operator=(const PlacementShapingEnv&) = delete;
  PlacementShapingEnv(PlacementShapingEnv&&) = default;
  PlacementShapingEnv& operator=(PlacementShapingEnv&&) = delete;
  ~PlacementShapingEnv() override = default;

  void observe(Observations& out) const override;
  [[nodiscard]] std::unique_ptr<Environment> clone() const override;
  [[nodiscard]] std::string describe(int action) const override;
  [[nodiscard]] std::string describe_kind(int action) const override;

  struct Candidate {
    int degree = 0;
    int block = 0;           // its number in the catalog; 0: none, which is first fit
    ExecutionPtr execution;  // null: refused, or no place
    double completion_time = 0;
  };
  [[nodiscard]] std::span<const Candidate> candidates() const { return candidates_; }

 private:
  void draw_from(Seed seed) override { rule_->reset(derive(seed, Purpose::kDegree, 0)); }
  void job_waits(const Cluster& cluster) override;
  [[nodiscard]] JobDecision decision_of(int action) const override;
  [[nodiscard]] JobDecision decision_of(const Candidate& candidate) const;
  void add_first_fit(const Cluster& cluster, int degree, bool whatever_comes);
  void add_blocks(const Cluster& cluster, int degree);
  // Unless the job would run as with another candidate.
  void add(Candidate candidate);

  std::shared_ptr<const PlacementShapingTask> task_;
  std::unique_ptr<DegreeRule> rule_;
  std::vector<std::uint8_t> degree_mask_;
  std::vector<int> free_blocks_;  // scratch: numbers
  // Of the waiting job, or of the one that would have come next had the episode not been truncated.
  std::uint16_t graph_ = 0;
  ShownCluster shown_;
  std::vector<Candidate> candidates_;
};

}  // namespace pacml::env

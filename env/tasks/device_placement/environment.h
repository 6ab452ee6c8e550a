#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/picture.h"
#include "env/placement/placing_rest.h"
#include "env/placement/placing_schedule.h"
#include "env/problem_list.h"
#include "env/tasks/device_placement/observation.h"
#include "env/tasks/device_placement/task.h"

namespace pacml::env {

// A thread's simulators, made when they are first needed. Thread-confined.
class PlacementEvaluators {
 public:
  [[nodiscard]] PlacementEvaluator& of(const PlacementProblemPtr& problem);

 private:
  std::map<const PlacementProblem*, std::unique_ptr<PlacementEvaluator>> made_;
};

// An episode is about one of the task's problems, drawn. Each step places one group; it ends, for
// good, when every group has been placed so often as the configuration says. Action d is device d.
// Thread-confined.
class DevicePlacementEnv final : public Environment, public Pictured, public ProblemList {
 public:
  // `evaluators`: the thread's.
  DevicePlacementEnv(std::shared_ptr<const DevicePlacementTask> task,
                     std::shared_ptr<PlacementEvaluators> evaluators);

  [[nodiscard]] const EnvironmentSpec& spec() const override { return task_->spec(); }
  void reset(Seed seed) override;
  void reset(Seed seed, std::size_t problem) override;
  [[nodiscard]] std::size_t num_problems() const override { return task_->problems().size(); }
  [[nodiscard]] const std::string& problem_name(std::size_t problem) const override;
  [[nodiscard]] StepResult step(int action) override;
  void observe(Observations& out) const override;
  [[nodiscard]] std::unique_ptr<Environment> clone() const override;
  // Nothing is left to chance once an episode has begun.
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return true; }
  [[nodiscard]] EpisodeRecord summary() const override;
  [[nodiscard]] std::string describe(int action) const override;
  [[nodiscard]] std::string describe_kind(int action) const override;
  // The groups by the device that they are on; its time is decisions.
  [[nodiscard]] Picture picture() const override;

  [[nodiscard]] const PlacementTaskProblem& problem() const { return task_->problems()[problem_]; }
  // The group that is to be placed next.
  [[nodiscard]] std::size_t group() const { return static_cast<std::size_t>(order_[at_]); }
  [[nodiscard]] const GroupPlacement& placement() const { return device_; }
  [[nodiscard]] double runtime_s() const { return runtime_s_; }

 private:
  void simulate();
  void look();

  std::shared_ptr<const DevicePlacementTask> task_;
  std::shared_ptr<PlacementEvaluators> evaluators_;
  std::size_t problem_ = 0;
  std::vector<std::int32_t> order_;
  std::size_t at_ = 0;  // in the order
  int round_ = 0;
  bool is_over_ = true;
  GroupPlacement device_;
  std::vector<std::uint8_t> visited_;
  // Of the last simulation.
  std::vector<double> start_us_;
  std::vector<double> leader_start_us_;
  std::vector<double> end_us_;
  std::vector<double> peak_bytes_;
  double runtime_s_ = 0;
  double over_memory_gb_ = 0;
  // Of the episode.
  double best_s_ = 0;
  double return_ = 0;
  std::int64_t decisions_ = 0;
  std::size_t last_group_ = 0;  // that was placed last
  double before_s_ = 0;         // the runtime before that
  std::int64_t simulations_ = 0;
  std::optional<PlacingSchedule> placed_;  // in this round
  // Scratch.
  std::vector<double> what_if_s_;
  std::vector<double> what_if_rest_s_;
  PlacingRest rest_;
  ShownPlacement shown_;
};

}  // namespace pacml::env

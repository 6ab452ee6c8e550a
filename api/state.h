#pragma once

#include <pacml/environment.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/experience/observations.h"
#include "env/candidate_view.h"
#include "env/environment.h"
#include "env/task.h"

// What is behind the handles of <pacml/environment.h>.

namespace pacml::api {

struct Task::Impl {
  explicit Impl(env::TaskPtr made);
  [[nodiscard]] const env::EnvironmentSpec& spec() const { return task->spec(); }
  // Of a task from elsewhere, e.g. of a policy's.
  [[nodiscard]] static Task handle(env::TaskPtr task);
  [[nodiscard]] static const Impl& of(const Task& task);

  env::TaskPtr task;
  env::CandidateViewPtr view;  // what networks read of candidates
  std::vector<Column> globals, candidate_features, situation_features;
  std::vector<std::string> slots;
  std::vector<Metric> metrics;
};

struct Environment::Impl {
  Impl(Task of, std::unique_ptr<env::Environment> made);
  [[nodiscard]] static const Impl& of(const Environment& environment);
  // The current decision's row. Error: no episode has begun.
  [[nodiscard]] const Observations& row() const;
  // Error: there was no reset().
  void check_begun() const;
  // ... or the episode is over.
  void check_running() const;
  // ... or the action is not valid.
  void check_action(int action) const;
  void forget() { is_observed = false; }

  Task task;
  std::unique_ptr<env::Environment> environment;
  bool begun = false;
  bool over = true;
  // Of the decision that was asked for last.
  mutable bool is_observed = false;
  mutable Observations observed;
  mutable std::vector<Observation::Slot> slots;
  mutable std::unique_ptr<env::CandidateReader> reader;  // made when it is first asked
  mutable std::vector<float> rows, situation;
};

}  // namespace pacml::api

#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/ids.h"
#include "env/workload/arrival_process.h"
#include "env/workload/distribution.h"
#include "env/workload/recorded_jobs.h"
#include "env/workload/requirement.h"

namespace pacml::env {

// How jobs are drawn from the pool.
enum class Sampling {
  kReplace,          // uniformly with replacement, without end
  kRemove,           // in random order, each once; then no job arrives any more
  kRemoveAndRepeat,  // as kRemove, then over again in a new random order, without end
};

constexpr auto enum_names(Sampling) {
  return std::to_array<EnumName<Sampling>>({{"replace", Sampling::kReplace},
                                            {"remove", Sampling::kRemove},
                                            {"remove_and_repeat", Sampling::kRemoveAndRepeat}});
}

inline constexpr double kLeastLoad = 0.01;
inline constexpr double kMostLoad = 100;

// Which jobs arrive, and when. Defaults are the published setting.
struct WorkloadConfig {
  std::vector<std::string> models;  // names; empty: every model there is
  int replication_factor = 1000;    // jobs of each model in an episode's pool; >= 1
  Sampling sampling = Sampling::kRemoveAndRepeat;
  // Time between arrivals, in the unit of the op times; > 0.
  DistributionConfig interarrival{.kind = DistributionKind::kFixed, .value = 1000.0};
  // Every episode draws one of these, all equally likely: its jobs arrive so many times as often.
  // Empty: 1. From 0.01 to 100.
  std::vector<double> loads;
  RequirementConfig requirement;
  int num_training_steps = 50;  // of every job; >= 1
  // Jobs of a file, in its order: where there is one, neither a pool nor `interarrival` is drawn
  // from, and `requirement` only for jobs of which the file gives no limit. An episode begins
  // anywhere in the file's part and goes on at its beginning behind its end; by `remove` each job
  // comes once.
  RecordedJobsConfig recorded;
  bool operator==(const WorkloadConfig&) const = default;
};

// Of `loads`. Pure.
[[nodiscard]] double greatest_load(const WorkloadConfig& config);

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, WorkloadConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("models", c.models);
  v("replication_factor", c.replication_factor);
  v("sampling", c.sampling);
  v("interarrival", c.interarrival);
  v("loads", c.loads);
  v("requirement", c.requirement);
  v("num_training_steps", c.num_training_steps);
  v("recorded", c.recorded);
}

// Every problem, as a sentence that begins with the key; those that `interarrival` and
// `requirement` have by themselves are left to their own validate.
[[nodiscard]] std::vector<std::string> validate(const WorkloadConfig& config);

// What is the same in every episode of a workload. Immutable; shared by every environment.
class WorkloadPlan {
 public:
  // Jobs that are drawn, of so many models, whatever `recorded` says. Throws UserError with the
  // first problem of the config or of a nested one. Pre: num_models > 0 (PACML_CHECK).
  WorkloadPlan(const WorkloadConfig& config, int num_models);
  // As the config says. UserError: also RecordedJobs'.
  WorkloadPlan(const WorkloadConfig& config, const RecordedModels& models);

  // Null: jobs are drawn.
  [[nodiscard]] const RecordedJobs* recorded() const { return recorded_ ? &*recorded_ : nullptr; }
  // Of the times between arrivals, at load 1.
  [[nodiscard]] double mean_interarrival() const {
    return recorded_ ? recorded_->mean_gap() : interarrival_.mean();
  }
  [[nodiscard]] int num_models() const { return num_models_; }
  [[nodiscard]] int replication_factor() const { return replication_factor_; }
  [[nodiscard]] Sampling sampling() const { return sampling_; }
  [[nodiscard]] const ArrivalProcess& interarrival() const { return interarrival_; }
  // How many times as often jobs arrive in an episode: a pure function of `episode`.
  [[nodiscard]] double load(Seed episode) const;
  [[nodiscard]] double greatest_load() const;
  // What it may be; empty: 1.
  [[nodiscard]] std::span<const double> loads() const { return loads_; }
  [[nodiscard]] const RequirementDistribution& requirement() const { return requirement_; }

 private:
  int num_models_;
  int replication_factor_;
  Sampling sampling_;
  ArrivalProcess interarrival_;
  std::vector<double> loads_;
  RequirementDistribution requirement_;
  std::optional<RecordedJobs> recorded_;
};

}  // namespace pacml::env

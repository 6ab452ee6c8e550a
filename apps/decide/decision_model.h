#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/evaluation/watched_policy.h"
#include "env/ramp/cluster.h"
#include "env/tasks/ramp/environment.h"
#include "env/tasks/ramp/task.h"

namespace pacml::apps {

struct DecisionModelOptions {
  std::string path;                       // a run folder, or an exported .safetensors file
  std::string profiles;                   // folder of job graphs; empty: where the run found them
  std::optional<std::string> search;      // planning::parse_search; none: the policy decides itself
  std::vector<std::string> changes = {};  // as of load_model
};

// What a policy makes of a job on a cluster that somebody else runs.
struct ClusterDecision {
  Opinion opinion;
  std::string meaning;                             // of the action, for people: "degree 4"
  std::vector<std::uint8_t> mask;                  // [actions], 1 = valid; borrowed from nobody
  env::BlockCause cause = env::BlockCause::kNone;  // why it comes to nothing, if so
  env::ExecutionPtr execution;                     // how it would run; null: it finds no place
  double completion_time = 0;                      // from now on, where it finds one
  double limit_time = 0;                           // what it may take
};

// A trained policy that decides about jobs on the RAMP cluster, ready to be asked: network, memory
// of placements, and the futures that its searches draw. Every moment that it is shown is the
// beginning of an episode: its time is 0. Thread-confined; may be made on one thread and be used on
// another.
class DecisionModel {
 public:
  // UserError: as load_model, a search that cannot be, or a policy whose decisions are not about
  // jobs on the RAMP cluster.
  explicit DecisionModel(const DecisionModelOptions& options);

  // Decides for every model on an empty cluster, so that the first that asks need not wait longer
  // than others.
  void warm_up();
  // A function of what it is shown, unless a search has a limit of time. `recent`: what has arrived
  // of late, the moment's job included. Pre: as Cluster::reset and of
  // this cluster (PACML_CHECK). UserError: what the network says cannot be acted upon.
  [[nodiscard]] ClusterDecision decide(const env::ClusterMoment& moment,
                                       const env::RecentArrivals& recent);
  // Of nothing so far, as decide() takes it.
  [[nodiscard]] env::RecentArrivals no_arrivals() const {
    return env::RecentArrivals(task_->ramp_config().recent_arrivals);
  }

  [[nodiscard]] const env::RampTask& task() const { return *task_; }
  [[nodiscard]] int num_servers() const {
    return environment_->cluster().memo().topology().num_servers();
  }
  // nullopt: there is none of that name.
  [[nodiscard]] std::optional<int> model_number(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> model_names() const;
  // Of a whole job of that model, on one server.
  [[nodiscard]] double sequential_time(int model) const;
  [[nodiscard]] int training_steps() const;
  [[nodiscard]] env::ExecutionPtr occupation(const env::ServerSet& servers);
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] const std::optional<std::string>& search() const { return search_; }
  // What could not be read, and what was taken instead; mostly empty.
  [[nodiscard]] const std::string& warning() const { return warning_; }

 private:
  std::shared_ptr<const env::RampTask> task_;
  std::unique_ptr<env::RampEnvironment> environment_;
  std::unique_ptr<WatchedPolicy> policy_;
  std::optional<env::JobStream> later_;
  std::string file_, warning_;
  std::uint64_t version_ = 0;
  std::optional<std::string> search_;
  Observations row_;  // scratch
};

}  // namespace pacml::apps

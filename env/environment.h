#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/experience/observations.h"
#include "common/ids.h"
#include "env/candidate_view.h"
#include "env/graph_features.h"

namespace pacml::env {

// What a task promises and a network is built for.
struct EnvironmentSpec {
  std::string task;             // "partitioning", ...
  ObservationSpec observation;  // what its decisions show
  // Static graphs that observations refer to by index; the same order in every environment made
  // from the same configuration.
  std::vector<GraphFeaturesPtr> graphs;
  // What networks read of each candidate where that is derived; else null.
  CandidateViewPtr candidate_view;

  // Actions are 0 .. num_actions() - 1; where their number varies, at most.
  [[nodiscard]] int num_actions() const { return static_cast<int>(observation.candidates.most); }
  [[nodiscard]] int num_globals() const { return static_cast<int>(observation.globals.size()); }
  [[nodiscard]] std::vector<GraphHash> graph_hashes() const {
    std::vector<GraphHash> hashes;
    for (const auto& graph : graphs) hashes.push_back(graph->hash);
    return hashes;
  }
  // A store for its observations, without rows.
  [[nodiscard]] Observations make_observations() const {
    Observations observations(observation.shape());
    observations.set_graphs(graph_hashes());
    return observations;
  }
};

struct StepResult {
  float reward = 0;
  bool terminated = false;  // the decision process ended: bootstrap with 0
  bool truncated =
      false;  // a limit cut the episode: bootstrap with the value of the state after it
  [[nodiscard]] bool final() const { return terminated || truncated; }
};

// What an episode came to, for people and for the metrics. Valid after a final step.
struct EpisodeSummary {
  double episode_return = 0;
  std::int64_t decisions = 0;
  std::int64_t arrived = 0;
  std::int64_t completed = 0;
  std::int64_t blocked = 0;
  double blocking_rate = 0;
};

// A decision process. Thread-confined: one caller at a time, on any thread.
class Environment {
 public:
  virtual ~Environment() = default;
  [[nodiscard]] virtual const EnvironmentSpec& spec() const = 0;
  // Starts an episode that is a pure function of `seed`.
  virtual void reset(Seed seed) = 0;
  // Pre: the last step was not final, and 0 <= action < num_actions() (PACML_CHECK).
  [[nodiscard]] virtual StepResult step(int action) = 0;
  // Adds the current observation as a row; graphs are indices into the spec's. After a step that
  // truncated the episode: the final observation, which the next decision would have had, had the
  // episode gone on; after one that terminated it: that of the last decision, whose value nobody
  // asks for.
  virtual void observe(Observations& out) const = 0;
  // An independent copy at the same state; its future is the same until the actions differ.
  // Immutable graphs and thread-confined caches are shared, so the copy is for the same thread.
  [[nodiscard]] virtual std::unique_ptr<Environment> clone() const = 0;
  [[nodiscard]] virtual EpisodeSummary summary() const = 0;
};

}  // namespace pacml::env

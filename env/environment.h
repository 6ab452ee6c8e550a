#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/experience/episode.h"
#include "common/experience/observations.h"
#include "common/ids.h"
#include "env/candidate_view.h"
#include "env/graph_features.h"
#include "env/metric.h"

namespace pacml::env {

// What a task promises and a network is built for.
struct EnvironmentSpec {
  std::string task;             // "partitioning", ...
  ObservationSpec observation;  // what its decisions show
  // Static graphs that observations refer to by index; the same order in every environment made
  // from the same configuration.
  std::vector<GraphFeaturesPtr> graphs;
  std::vector<std::string> graph_names;  // [graphs], for people
  // What networks read of each candidate where that is derived; else null.
  CandidateViewPtr candidate_view;
  // What Environment::summary() reports, at most kMostMetrics; the first is the objective, by which
  // policies are compared and the best one is kept.
  std::vector<MetricSpec> metrics;

  [[nodiscard]] const MetricSpec& objective() const { return metrics.front(); }
  // Of an episode. Pre: there is a metric of that name (PACML_CHECK).
  [[nodiscard]] double metric(const EpisodeRecord& episode, std::string_view name) const;
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
  // From here on, whatever chance decides is drawn anew, as a pure function of `seed`: what has
  // been observed stays as it is, what is still to come forgets what it would have been. So a
  // search on clones never sees the true future. False: the future of this episode is given and
  // cannot be drawn, nothing has changed.
  [[nodiscard]] virtual bool resample_future(Seed seed) = 0;
  // What the episode has come to so far; metrics are the spec's.
  [[nodiscard]] virtual EpisodeRecord summary() const = 0;
  // What an action of the current decision would mean, for people: "degree 8". Pre: as step().
  [[nodiscard]] virtual std::string describe(int action) const {
    return "action " + std::to_string(action);
  }
};

// Makes environments for one thread: they share what they remember of their task.
using EnvironmentFactory = std::function<std::unique_ptr<Environment>()>;

}  // namespace pacml::env

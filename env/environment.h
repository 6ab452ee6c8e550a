#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
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
  // What the files say that the task reads, by the settings that name them
  // ("env.workload.recorded.file"): equal jobs, profiles, or equal bytes, equal hash. Of profiles
  // also what graphs do not show, which is their scale.
  std::map<std::string, std::uint64_t> inputs;
  // What networks read of each candidate where that is derived; else null.
  CandidateViewPtr candidate_view;
  // What Environment::summary() reports, at most kMostMetrics; the first is the objective, by which
  // policies are compared and the best one is kept.
  std::vector<MetricSpec> metrics;

  // Adds a file's bytes to `inputs`, behind those of the setting's other files. UserError: it
  // cannot be read.
  void add_input(const std::string& setting, const std::string& file);
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
  float reward = 0;         // of who decided
  bool terminated = false;  // the decision process ended: bootstrap with 0
  bool truncated =
      false;  // a limit cut the episode: bootstrap with the value of the state after it
  // How long the step took, in the environment's unit of discounting: what follows is worth
  // gamma^elapsed of what it will be. Finite, > 0.
  float elapsed = 1;
  [[nodiscard]] bool final() const { return terminated || truncated; }
};

// What an agent got in a step for which another one decided.
struct AgentReward {
  int agent = 0;
  float reward = 0;  // finite
  bool operator==(const AgentReward&) const = default;
};

// A decision process of one agent, or of several that decide in turns, in any order. Each agent is
// a learner's stream of its own: a decision lasts until the same agent decides again, or the
// episode ends. What the decision came to is
//
//   its reward     of all steps meanwhile, what step() says of the first, which is its own, and
//                  what other_rewards() says of those of others; added up as it is, without
//                  discounting: who pays late says so by paying less
//   its elapsed    the sum over all steps meanwhile, its own and those of others: time passes for
//                  everybody
//   what follows   what the agent sees when it decides again, discounted by gamma^elapsed; where
//                  the episode terminated, nothing; where it was cut, observe_last(), or nothing
//                  for an agent that has_left()
//
// Thread-confined: one caller at a time, on any thread.
class Environment {
 public:
  virtual ~Environment() = default;
  [[nodiscard]] virtual const EnvironmentSpec& spec() const = 0;
  // Starts an episode that is a pure function of `seed`.
  virtual void reset(Seed seed) = 0;
  // Pre: the last step was not final, and takes(action) (PACML_CHECK).
  [[nodiscard]] virtual StepResult step(int action) = 0;
  // Whether step() takes the action now: those that observe() shows, and what rules may do besides.
  [[nodiscard]] virtual bool takes(int action) const;
  // Adds the current observation as a row; graphs are indices into the spec's. After a step that
  // truncated the episode: the final observation, which the next decision would have had, had the
  // episode gone on; after one that terminated it: that of the last decision, whose value nobody
  // asks for.
  virtual void observe(Observations& out) const = 0;
  // Who takes the next decision, for whom observe() looks: 0 .. spec().observation.agents - 1. Not
  // asked after a final step.
  [[nodiscard]] virtual int agent() const { return 0; }
  // Of the last step: what agents got besides its reward, for the decision that each took last in
  // this episode; nobody's where an agent has not decided yet. Borrowed until the next step.
  [[nodiscard]] virtual std::span<const AgentReward> other_rewards() const { return {}; }
  // After a step that truncated the episode: whether this agent's part of it had ended by itself,
  // as had the episode terminated for it alone: its decisions lead nowhere. With one agent: never.
  [[nodiscard]] virtual bool has_left(int /*agent*/) const { return false; }
  // After such a step, for each agent that decided in it and has not left: adds as a row what it
  // would see, had it to decide now. With several agents, the observation of another is not
  // worth to it what its own is, so that they override this.
  virtual void observe_last(int /*agent*/, Observations& out) const { observe(out); }
  // An independent copy at the same state; its future is the same until the actions differ.
  // Immutable graphs and thread-confined caches are shared, so the copy is for the same thread.
  [[nodiscard]] virtual std::unique_ptr<Environment> clone() const = 0;
  // From here on, whatever chance decides is drawn anew, as a pure function of `seed`: what has
  // been observed stays as it is, what is still to come forgets what it would have been. So a
  // search on clones never sees the true future. False: the future of this episode is given and
  // cannot be drawn, nothing has changed.
  [[nodiscard]] virtual bool resample_future(Seed seed) = 0;
  // A copy in a future that is drawn anew, for whoever looks ahead and has no use for the rest:
  // what it is asked to decide, shows and pays is what clone() and resample_future() would make of
  // this one, by less work, where the task knows how. Not to be observed after a step that
  // terminated the episode; metrics may be NaN. Null: the future cannot be drawn.
  [[nodiscard]] virtual std::unique_ptr<Environment> imagine(Seed future) const;
  // What the episode has come to so far, to all agents together; metrics are the spec's.
  [[nodiscard]] virtual EpisodeRecord summary() const = 0;
  // What an action of the current decision would mean, for people: "degree 8". Pre: as step().
  [[nodiscard]] virtual std::string describe(int action) const {
    return "action " + std::to_string(action);
  }
  // The same without names of what is there once, such as a job's number: for whoever counts how
  // often a choice was made.
  [[nodiscard]] virtual std::string describe_kind(int action) const { return describe(action); }
};

// Makes environments for one thread: they share what they remember of their task.
using EnvironmentFactory = std::function<std::unique_ptr<Environment>()>;

}  // namespace pacml::env

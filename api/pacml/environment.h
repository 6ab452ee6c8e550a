#pragma once

#include <pacml/api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Decision problems as configuration files describe them, to be played step by step. Times are in
// the task's simulated unit, features are float32, matrices are row-major.

namespace pacml::api {

// A number that decisions show, or a figure of an episode.
struct Column {
  std::string name;
  std::string unit;  // "1" where it is a share or a count
};

// What is better of a figure.
enum class Better { kNeither, kLower, kHigher };
struct Metric {
  std::string name;
  std::string unit;
  Better better = Better::kNeither;
};

// A graph that decisions refer to by index. Borrowed from its task, which keeps it.
struct Graph {
  const std::string* name = nullptr;
  int num_nodes = 0;
  int num_edges = 0;
  int node_width = 0;                      // features per node
  int edge_width = 0;                      // features per edge
  std::span<const float> node_features;    // [num_nodes, node_width]
  std::span<const float> edge_features;    // [num_edges, edge_width]
  std::span<const std::int32_t> edge_src;  // [num_edges], nodes
  std::span<const std::int32_t> edge_dst;  // [num_edges]
};

// A decision problem, with everything that its environments have in common. Immutable; copies share
// it; any thread.
class PACML_API Task {
 public:
  // Section `env` of a configuration file (YAML), such as configs/quickstart.yaml; what else it
  // holds is read, and not used. `changes`: "key=value", as the program's --set. `profiles`: folder
  // of <model>/graph.txt; empty: what the file says. Error: what is wrong, with file, line and key.
  [[nodiscard]] static Task from_file(const std::string& file,
                                      const std::vector<std::string>& changes = {},
                                      const std::string& profiles = {});

  [[nodiscard]] const std::string& name() const;  // "partitioning", ...
  // Actions are 0 .. num_actions() - 1; where their number varies, at most.
  [[nodiscard]] int num_actions() const;
  // Who decides in turns: 0 .. num_agents() - 1.
  [[nodiscard]] int num_agents() const;
  [[nodiscard]] const std::vector<Column>& globals() const;
  // What networks read of each candidate, and of a decision as a whole (Environment::candidates).
  // Empty where a candidate is known by its place alone.
  [[nodiscard]] const std::vector<Column>& candidate_features() const;
  [[nodiscard]] const std::vector<Column>& situation_features() const;
  // The graphs that each decision shows, by what they are: "job", "servers".
  [[nodiscard]] const std::vector<std::string>& slots() const;
  [[nodiscard]] int num_graphs() const;
  // Error: there is no such graph.
  [[nodiscard]] Graph graph(int index) const;
  // What an episode comes to; the first is the objective.
  [[nodiscard]] const std::vector<Metric>& metrics() const;
  // Policies that need no training, without those that need an argument ("constant:3"): what
  // Policy::baseline takes.
  [[nodiscard]] std::vector<std::string> baselines() const;

  struct Impl;

 private:
  friend class Environment;
  friend class Policy;
  explicit Task(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// What the current decision shows. Borrowed from its environment, until that is told to do anything
// else.
struct Observation {
  struct Slot {
    int graph = 0;                         // index into the task's
    int focus = -1;                        // the node that the decision is about; -1: there is none
    std::span<const float> node_features;  // [nodes, width], those that change from decision to
                                           // decision; empty: there are none
  };
  int agent = 0;                       // who decides
  std::span<const float> globals;      // [globals]
  std::span<const std::uint8_t> mask;  // [candidates], 1 = valid; at least one is
  std::span<const float> candidates;   // [candidates, width] where each has features of its
                                       // own that travel; else empty
  std::span<const std::uint32_t> candidate_nodes;  // [candidates] where each is a node; else empty
  std::span<const Slot> slots;                     // [slots]
};

// What networks read of a decision. Borrowed as an Observation.
struct CandidateRows {
  std::size_t count = 0;             // valid candidates, in the order of their actions
  std::span<const float> rows;       // [count, candidate_features]
  std::span<const float> situation;  // [situation_features]
};

struct Step {
  float reward = 0;         // of who decided
  bool terminated = false;  // the episode is over, and nothing follows
  bool truncated = false;   // a limit cut the episode: what follows is still worth something
  float elapsed = 1;        // in units of discounting: what follows is worth gamma^elapsed of it
};

// A decision process: reset, then observe and step until the episode is over. One caller at a time,
// on any thread; environments that were cloned from one another stay on one thread together.
class PACML_API Environment {
 public:
  explicit Environment(const Task& task);
  Environment(Environment&&) noexcept;
  Environment& operator=(Environment&&) noexcept;
  ~Environment();

  [[nodiscard]] const Task& task() const;
  // Starts an episode that is a pure function of `seed`.
  void reset(std::uint64_t seed);
  // Error, of all below but is_over(): there was no reset().
  // After the end of an episode that a limit cut: what the next decision would have shown.
  [[nodiscard]] Observation observe() const;
  [[nodiscard]] CandidateRows candidates() const;
  // Error: the episode is over, or the action is not valid. What the mask leaves out because
  // nothing would come of it, as baselines may choose, is taken, and nothing comes of it.
  Step step(int action);
  // Whether the last step ended the episode, or none has begun.
  [[nodiscard]] bool is_over() const;
  // What an action would mean, for people: "degree 8". Error: as step().
  [[nodiscard]] std::string describe(int action) const;
  // What the episode has come to so far: [task().metrics()].
  [[nodiscard]] std::vector<double> metrics() const;
  // An independent copy at the same state, whose future is the same until the actions differ.
  [[nodiscard]] Environment clone() const;
  // From here on, whatever chance decides is drawn anew, as a pure function of `seed`. False: this
  // future is given and cannot be drawn; nothing has changed. Error: the episode is over.
  bool resample_future(std::uint64_t seed);

  struct Impl;

 private:
  friend class Policy;
  explicit Environment(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::api

#pragma once

#include <pacml/api.h>
#include <pacml/environment.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Trained policies, and searches over what they would do.

namespace pacml::api {

struct PolicyOptions {
  // Folder of <model>/graph.txt; empty: where the policy's own configuration found them.
  std::string profiles;
  // Look ahead before deciding: "K=64,H=12,gap=3,weight=1,ms=5", any of them, or "" for the
  // defaults (docs/algorithms.md, "Search"): K imagined futures of H decisions each, for actions
  // that the policy finds likely. None: the policy decides itself.
  std::optional<std::string> search;
};

struct Decision {
  int action = 0;
  // [candidates], 0 for those that are not valid; empty: the policy does not weigh them.
  std::vector<double> probabilities;
  // [candidates], what each is expected to come to, in the unit of rewards; NaN for those that are
  // not valid or that a search did not try; empty: the policy does not say.
  std::vector<double> action_values;
  std::optional<double> value;  // of the state, in the unit of rewards
};

// Whoever decides. One caller at a time, on any thread; on the thread of the environments that it
// searches. Computed in float32 by kernels of its own, chosen for the processor at run time.
class PACML_API Policy {
 public:
  // The best policy of a run folder, or one that `pacml export --format safetensors` wrote, for the
  // task that it was trained for. A run whose best policy is damaged has another one, as warning()
  // tells. Error: neither is there, or it is damaged; a file whose task is in Python, which is code
  // that a file does not get to run.
  [[nodiscard]] static Policy open(const std::string& path, const PolicyOptions& options = {});
  // The same for a task that is already there. Error: also where it was trained for other
  // decisions.
  [[nodiscard]] static Policy open(const std::string& path, const Task& task,
                                   const PolicyOptions& options = {});
  // One of the task's baselines, which tells nothing but what it does. Error: none of that name, or
  // one that is the best of several.
  [[nodiscard]] static Policy baseline(const Task& task, const std::string& name);
  Policy(Policy&&) noexcept;
  Policy& operator=(Policy&&) noexcept;
  ~Policy();

  [[nodiscard]] const Task& task() const;
  // Sentences, each a line, that whoever uses it should read: that the best policy is damaged, say,
  // and another one was taken. Mostly empty.
  [[nodiscard]] const std::string& warning() const;
  // Begins an episode: what a search or a baseline draws is a function of `seed`, and of what was
  // decided since.
  void reset(std::uint64_t seed);
  // What to do now: the best action. Error: an environment of another task or one whose episode is
  // over, a future that cannot be drawn, or weights that say nothing which can be acted upon.
  [[nodiscard]] Decision decide(const Environment& environment);

  struct Impl;

 private:
  explicit Policy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::api

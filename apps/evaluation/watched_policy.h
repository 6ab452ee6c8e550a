#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/evaluation/trained_run.h"
#include "common/ids.h"
#include "env/task.h"

namespace pacml::apps {

// What a policy makes of a decision.
struct Opinion {
  int action = 0;  // what it would do
  // [actions], 0 for those that are not valid; empty: it does not weigh them.
  std::vector<double> probabilities;
  // [actions] what it expects of each, in the unit of rewards, NaN for those that are not valid or
  // were not tried; empty: it does not say. Of Ape-X and expert iteration instead of
  // probabilities; of searches besides.
  std::vector<double> action_values;
  std::optional<double> value;  // of the state, in the unit of rewards
};

// A policy that is looked at while it decides. Thread-confined.
class WatchedPolicy {
 public:
  // The best policy of a run. UserError: as load_trained_run.
  [[nodiscard]] static WatchedPolicy of_run(const env::TaskPtr& task,
                                            const std::filesystem::path& run);
  // A policy that has been read; `name` for people. `task`: whose decisions it takes.
  [[nodiscard]] static WatchedPolicy of_model(const env::TaskPtr& task, const TrainedRun& run,
                                              std::string name);
  // ... that looks ahead: `settings` as planning::parse_search reads them, by default with a
  // horizon of 12 and the discount that it was trained for. What it tells of actions is what they
  // came to in the futures that were tried; of the others, nothing. UserError: settings that are
  // none, or a policy of which is not known what its values are in units of.
  [[nodiscard]] static WatchedPolicy searching(const env::TaskPtr& task, const TrainedRun& run,
                                               std::string name, std::string_view settings);
  // One of the task's baselines, which tells nothing but what it does. UserError: none of that
  // name, or a choice of several (baseline_meant() chooses).
  [[nodiscard]] static WatchedPolicy of_baseline(const env::TaskPtr& task, const std::string& name);
  WatchedPolicy(const WatchedPolicy&) = delete;
  WatchedPolicy& operator=(const WatchedPolicy&) = delete;
  WatchedPolicy(WatchedPolicy&&) noexcept;
  WatchedPolicy& operator=(WatchedPolicy&&) noexcept;
  ~WatchedPolicy();

  [[nodiscard]] const std::string& name() const;
  // What whoever reads its decisions should know, sentences, each a line; mostly none.
  [[nodiscard]] const std::string& warning() const;
  // Begins an episode.
  void reset(Seed seed);
  // UserError: what the network says cannot be acted upon.
  [[nodiscard]] Opinion ask(const env::Environment& environment);

 private:
  struct Impl;
  explicit WatchedPolicy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::apps

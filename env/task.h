#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "env/agent.h"
#include "env/environment.h"

namespace pacml::env {

// A policy that needs no training.
struct Baseline {
  std::string name;  // what comes before a colon
  std::string description;
  // In every comparison that asks for no policy by name.
  bool compared = false;
  // Of these agents, the one that does best on tuning episodes; none: the name is an agent itself.
  std::vector<std::string> best_of;
};

// A decision problem as a configuration describes it, with everything that its environments have in
// common. Immutable; any thread.
class Task {
 public:
  virtual ~Task() = default;
  [[nodiscard]] virtual const EnvironmentSpec& spec() const = 0;
  // For one thread. What it makes keeps what it needs of the task alive.
  [[nodiscard]] virtual EnvironmentFactory make_factory() const = 0;
  // In the order in which comparisons list them.
  [[nodiscard]] virtual std::vector<Baseline> baselines() const = 0;
  // One of baselines() that is no choice of several, with its argument after a colon where it has
  // one. UserError: another name, or another argument.
  [[nodiscard]] virtual std::unique_ptr<Agent> make_agent(std::string_view name) const = 0;
};
using TaskPtr = std::shared_ptr<const Task>;

// The agents behind the baselines that are compared, in their order: all of those that one is the
// best of.
[[nodiscard]] std::vector<std::string> compared_agents(const Task& task);

// Task::make_agent for whoever cannot choose. UserError: also of a baseline that is a choice of
// several, and says of which.
[[nodiscard]] std::unique_ptr<Agent> make_baseline(const Task& task, std::string_view name);

// That there is no such baseline, with the one that was perhaps meant.
[[nodiscard]] UserError no_such_baseline(std::string_view name, std::span<const Baseline> known);

// Whether `name` (up to a colon) is among the task's baselines.
[[nodiscard]] bool is_baseline(const Task& task, std::string_view name);

}  // namespace pacml::env

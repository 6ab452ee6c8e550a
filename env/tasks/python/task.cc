#include "env/tasks/python/task.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/tasks/python/description.h"
#include "env/tasks/python/environment.h"
#include "env/tasks/python/python_process.h"

namespace pacml::env {
namespace {

constexpr std::string_view kConstant = "constant:";

// Decisions show no graph, and networks read one.
GraphFeaturesPtr nothing() {
  auto graph = std::make_shared<GraphFeatures>();
  graph->num_nodes = 1;
  graph->node_width = 1;
  graph->edge_width = 1;
  graph->node_features = {0};
  graph->hash = hash_features(*graph);
  return graph;
}

const PythonEnvironment& python(const Environment& environment) {
  const auto* found = dynamic_cast<const PythonEnvironment*>(&environment);
  PACML_CHECK(found != nullptr, "an environment in Python");
  return *found;
}

int next_allowed(const Environment& environment, int action) {
  const int actions = environment.spec().num_actions();
  while (!environment.takes(action)) action = (action + 1) % actions;
  return action;
}

class Own final : public Agent {
 public:
  explicit Own(std::string name) : name_(std::move(name)) {}
  int act(const Environment& environment) override { return python(environment).act(name_); }

 private:
  std::string name_;
};

class Always final : public Agent {
 public:
  explicit Always(int action) : action_(action) {}
  int act(const Environment& environment) override { return next_allowed(environment, action_); }

 private:
  int action_;
};

class Random final : public Agent {
 public:
  void reset(Seed seed) override { rng_ = Rng(derive(seed, Purpose::kHeuristic, 0)); }
  int act(const Environment& environment) override {
    std::vector<int> allowed;
    for (int a = 0; a < environment.spec().num_actions(); ++a) {
      if (environment.takes(a)) allowed.push_back(a);
    }
    return allowed[rng_.below(allowed.size())];
  }

 private:
  Rng rng_{Seed{0}};
};

}  // namespace

PythonTask::PythonTask(const PythonConfig& config) : config_(config) {
  if (const auto problems = validate(config); !problems.empty()) throw UserError(problems.front());
  PythonDescription said = description_of(config);
  own_ = std::move(said.baselines);
  auto spec = std::make_shared<EnvironmentSpec>();
  spec->task = "python";
  spec->observation = std::move(said.observation);
  spec->metrics = std::move(said.metrics);
  spec->graphs = {nothing()};
  spec->graph_names = {"nothing"};
  if (!config.file.empty()) spec->add_input("env.file", config.file);
  spec_ = std::move(spec);
}

EnvironmentFactory PythonTask::make_factory() const {
  return [spec = spec_, process = std::make_shared<PythonProcess>(config_)] {
    return std::make_unique<PythonEnvironment>(spec, process);
  };
}

std::vector<Baseline> PythonTask::baselines() const {
  std::vector<Baseline> all = own_;
  const auto added = added_baselines(spec_->observation.candidates);
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

std::unique_ptr<Agent> PythonTask::make_agent(std::string_view name) const {
  if (name == "random") return std::make_unique<Random>();
  const std::vector<Baseline> known = baselines();
  if (name.starts_with(kConstant)) {
    const std::string_view number = name.substr(kConstant.size());
    const auto action = read_number<int>(number);
    const int actions = spec_->num_actions();
    if (!action || *action < 0 || *action >= actions) {
      throw UserError("constant:A: A must be an action from 0 to " + std::to_string(actions - 1) +
                      ", not \"" + std::string(number) + "\"");
    }
    return std::make_unique<Always>(*action);
  }
  if (std::ranges::find(own_, name, &Baseline::name) == own_.end()) {
    throw no_such_baseline(name, known);
  }
  return std::make_unique<Own>(std::string(name));
}

}  // namespace pacml::env

// A task of one's own, complete (docs/adding_a_task.md). A walker starts somewhere in a corridor
// and is to leave it at its right end. With probability `slip` a step goes the other way.

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "common/check.h"
#include "common/config/fields.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/task_config.h"

namespace corridor {
namespace {

using namespace pacml;

// --- Settings: section `env` of a configuration whose task is `corridor` -----------------------

struct Config {
  int length = 8;     // places
  double slip = 0.1;  // probability
  bool operator==(const Config&) const = default;
};

template <class C, class Visitor>
requires std::same_as<std::remove_const_t<C>, Config>
void visit_fields(C& c, Visitor&& v) {
  v("length", c.length);
  v("slip", c.slip);
}

std::vector<std::string> validate(const Config& c) {
  std::vector<std::string> problems;
  if (c.length < 2 || c.length > 1000) problems.emplace_back("length: must be in 2..1000");
  if (!(c.slip >= 0 && c.slip < 0.5)) problems.emplace_back("slip: must be in [0, 0.5)");
  return problems;
}

ObservationSpec observation_spec(const Config& c) {
  ObservationSpec spec;
  spec.slots = {{.name = "corridor", .node_width = 1, .edge_width = 1}};
  for (int p = 0; p < c.length; ++p) spec.globals.push_back({"at_" + std::to_string(p), "1", 0, 1});
  spec.candidates.most = 2;  // 0: left, 1: right
  return spec;
}

// --- Environment: one walk an episode ----------------------------------------------------------

class Walk final : public env::Environment {
 public:
  Walk(std::shared_ptr<const env::EnvironmentSpec> spec, const Config& config)
      : spec_(std::move(spec)), config_(config) {}

  const env::EnvironmentSpec& spec() const override { return *spec_; }
  void reset(Seed seed) override {
    rng_ = Rng(seed);
    place_ = static_cast<int>(rng_.below(static_cast<std::uint64_t>(config_.length)));
    steps_ = 0;
  }
  env::StepResult step(int action) override {
    PACML_CHECK(action == 0 || action == 1, "no such action");
    const bool right = (action == 1) != (rng_.uniform() < config_.slip);
    place_ = std::max(place_ + (right ? 1 : -1), 0);
    ++steps_;
    if (place_ >= config_.length) return {.reward = 1, .terminated = true};
    return {.truncated = steps_ == 10 * config_.length};
  }
  void observe(Observations& out) const override {
    const ObservationRow row = out.append();
    row.globals[static_cast<std::size_t>(std::min(place_, config_.length - 1))] = 1;
    row.mask[0] = row.mask[1] = 1;
  }
  std::unique_ptr<Environment> clone() const override { return std::make_unique<Walk>(*this); }
  bool resample_future(Seed seed) override {
    rng_ = Rng(seed);
    return true;
  }
  EpisodeRecord summary() const override {
    const double left = place_ >= config_.length ? 1 : 0;
    return {left, steps_, {static_cast<double>(steps_), left}};
  }
  std::string describe(int action) const override { return action == 1 ? "right" : "left"; }

 private:
  std::shared_ptr<const env::EnvironmentSpec> spec_;
  Config config_;
  Rng rng_{Seed{0}};
  int place_ = 0;
  std::int64_t steps_ = 0;
};

// --- Task: what all its environments have in common, and what it is compared with --------------

class Always final : public env::Agent {
 public:
  explicit Always(int action) : action_(action) {}
  int act(const env::Environment& /*environment*/) override { return action_; }

 private:
  int action_;
};

class Task final : public env::Task {
 public:
  explicit Task(const Config& config) : config_(config) {
    auto graph = std::make_shared<env::GraphFeatures>();  // the places, one after the other
    graph->num_nodes = config.length;
    graph->num_edges = config.length - 1;
    graph->node_width = graph->edge_width = 1;
    graph->node_features.assign(static_cast<std::size_t>(config.length), 1.0F);
    graph->edge_features.assign(static_cast<std::size_t>(config.length) - 1, 1.0F);
    for (int p = 0; p + 1 < config.length; ++p) {
      graph->edge_src.push_back(p);
      graph->edge_dst.push_back(p + 1);
    }
    graph->hash = env::hash_features(*graph);
    spec_->task = "corridor";
    spec_->observation = observation_spec(config);
    spec_->graphs = {graph};
    spec_->graph_names = {"corridor"};
    spec_->metrics = {{"steps", "steps", "steps", env::Better::kLower, 2, {}},
                      {"left", "left", "share of the walks", env::Better::kHigher, 3, {}}};
  }
  const env::EnvironmentSpec& spec() const override { return *spec_; }
  env::EnvironmentFactory make_factory() const override {
    return [spec = spec_, config = config_] { return std::make_unique<Walk>(spec, config); };
  }
  std::vector<env::Baseline> baselines() const override {
    return {{"right", "always to the right", true, {}}, {"left", "always to the left", true, {}}};
  }
  std::unique_ptr<env::Agent> make_agent(std::string_view name) const override {
    if (name != "left" && name != "right") {
      throw UserError("there is no policy \"" + std::string(name) + "\"");
    }
    return std::make_unique<Always>(name == "right" ? 1 : 0);
  }

 private:
  Config config_;
  std::shared_ptr<env::EnvironmentSpec> spec_ = std::make_shared<env::EnvironmentSpec>();
};

const bool kListed = env::add_task_kind(
    env::task_kind<Config, Task>("corridor", "a walk to the door of a slippery corridor"));

}  // namespace
}  // namespace corridor

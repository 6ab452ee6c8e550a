#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "common/check.h"
#include "env/environment.h"
#include "tests/support/plain_observations.h"

namespace pacml::env {

// An environment in which everything says where it comes from. An episode of seed s has
// length_of(s) decisions; seeds divide into four kinds by how it ends (ends_of). Observation t:
// graph (s + t) mod 2, globals {s mod 4096, t}, action t mod 3 masked. Reward t + action / 10.
// Thread-confined.
class ScriptedEnvironment final : public Environment {
 public:
  static constexpr int kActions = 3;
  using ResetObserver = std::function<void(Seed)>;

  explicit ScriptedEnvironment(ResetObserver observe_reset = {})
      : observe_reset_(std::move(observe_reset)) {
    spec_.task = "scripted";
    spec_.observation = plain_spec(2, kActions);
    for (const float mark : {1.0F, 2.0F}) {
      auto graph = std::make_shared<GraphFeatures>();
      graph->num_nodes = 2;
      graph->num_edges = 1;
      graph->node_width = graph->edge_width = 1;
      graph->node_features = {mark, -mark};
      graph->edge_features = {mark};
      graph->edge_src = {0};
      graph->edge_dst = {1};
      graph->hash = hash_features(*graph);
      spec_.graphs.push_back(std::move(graph));
      spec_.graph_names.push_back("graph " + std::to_string(spec_.graphs.size()));
    }
    spec_.metrics = {{"half_length", "half", "decisions", Better::kHigher, 1, {}}};
  }

  [[nodiscard]] static std::int64_t length_of(Seed seed) {
    return 1 + static_cast<std::int64_t>(seed.get() % 5);
  }
  // {terminated, truncated}
  [[nodiscard]] static std::pair<bool, bool> ends_of(Seed seed) {
    constexpr std::pair<bool, bool> kEnds[] = {
        {true, false}, {false, true}, {true, true}, {false, true}};
    return kEnds[(seed.get() / 8) % 4];
  }

  [[nodiscard]] const EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed seed) override {
    seed_ = seed;
    observed_ = 0;
    summary_ = {};
    if (observe_reset_) observe_reset_(seed);
  }
  [[nodiscard]] StepResult step(int action) override {
    PACML_CHECK(summary_.decisions < length_of(seed_), "the episode goes on");
    PACML_CHECK(action != observed_ % kActions, "a valid action");
    StepResult result;
    result.reward = static_cast<float>(observed_) + static_cast<float>(action) / 10;
    summary_.episode_return += result.reward;
    ++summary_.decisions;
    summary_.metrics[0] = static_cast<double>(summary_.decisions) / 2;
    if (summary_.decisions == length_of(seed_)) {
      std::tie(result.terminated, result.truncated) = ends_of(seed_);
    }
    if (!result.terminated) ++observed_;
    return result;
  }
  void observe(Observations& out) const override {
    const ObservationRow row = out.append();
    row.graph[0] =
        static_cast<std::uint16_t>((seed_.get() + static_cast<std::uint64_t>(observed_)) % 2);
    row.globals[0] = static_cast<float>(seed_.get() % 4096);
    row.globals[1] = static_cast<float>(observed_);
    for (int a = 0; a < kActions; ++a) {
      row.mask[static_cast<std::size_t>(a)] = a == observed_ % kActions ? 0 : 1;
    }
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<ScriptedEnvironment>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return false; }
  [[nodiscard]] EpisodeRecord summary() const override { return summary_; }

 private:
  ResetObserver observe_reset_;
  EnvironmentSpec spec_;
  Seed seed_;
  int observed_ = 0;
  EpisodeRecord summary_;
};

}  // namespace pacml::env

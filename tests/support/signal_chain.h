#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/rng.h"
#include "env/environment.h"
#include "tests/support/plain_observations.h"

namespace pacml::env {

// A tiny decision process whose optimal values are known. A walker starts at a random place of a
// chain of kLength places. At each step a fair coin is shown, by which of two graphs the
// observation names:
//
//   action == coin (0 or 1)  one place forward; past the last place the episode ends with reward 1
//   action != coin           one place back, or stays at place 0
//   action 2                 only valid at place 0: the episode ends with reward kDecoy
//
// With discount gamma the best value at place p is gamma^(kLength - 1 - p), whatever the coin, as
// long as that exceeds kDecoy at place 0. Episodes are truncated after `limit` steps, which may be
// too few to reach the end: values learned are the same only if truncation bootstraps, from the
// state that observe() gives after the last step. Thread-confined.
class SignalChain final : public Environment {
 public:
  static constexpr int kLength = 4;
  static constexpr float kDecoy = 0.3F;
  static constexpr int kDecoyAction = 2;

  explicit SignalChain(int limit) : limit_(limit), rng_(Seed{0}) {
    spec_.task = "signal_chain";
    spec_.observation = plain_spec(kLength, 3, 2, 1);
    // The graphs differ in one node's features, so that only the graph network can tell them apart.
    for (const float mark : {-1.0F, 1.0F}) {
      auto graph = std::make_shared<GraphFeatures>();
      graph->num_nodes = 3;
      graph->num_edges = 2;
      graph->node_width = 2;
      graph->edge_width = 1;
      graph->node_features = {mark, -mark, 0.5F, 0, 0.25F, 1};
      graph->edge_features = {1, 2};
      graph->edge_src = {0, 1};
      graph->edge_dst = {1, 2};
      graph->hash = hash_features(*graph);
      spec_.graphs.push_back(std::move(graph));
      spec_.graph_names.push_back(mark < 0 ? "tails" : "heads");
    }
    spec_.metrics = {{"return", "return", "1", Better::kHigher, 3, {}}};
  }

  [[nodiscard]] static double best_value(int place, double discount) {
    return std::pow(discount, kLength - 1 - place);
  }

  [[nodiscard]] const EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed seed) override {
    rng_ = Rng(seed);
    summary_ = {};
    place_ = static_cast<int>(rng_.below(kLength));
    toss();
  }
  [[nodiscard]] StepResult step(int action) override {
    PACML_CHECK(action >= 0 && action < 3 && (action != kDecoyAction || place_ == 0),
                "a valid action");
    StepResult result;
    ++summary_.decisions;
    if (action == kDecoyAction) {
      result = {kDecoy, true, false};
    } else if (action != coin_) {
      place_ = place_ > 0 ? place_ - 1 : 0;
    } else if (place_ + 1 == kLength) {
      result = {1.0F, true, false};
    } else {
      ++place_;
    }
    summary_.episode_return += result.reward;
    summary_.metrics[0] = summary_.episode_return;
    result.truncated = !result.terminated && summary_.decisions >= limit_;
    toss();
    return result;
  }
  void observe(Observations& out) const override {
    const ObservationRow row = out.append();
    row.graph[0] = static_cast<std::uint16_t>(coin_);
    for (int p = 0; p < kLength; ++p) {
      row.globals[static_cast<std::size_t>(p)] = p == place_ ? 1.0F : 0.0F;
    }
    row.mask[0] = row.mask[1] = 1;
    row.mask[kDecoyAction] = place_ == 0 ? 1 : 0;
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<SignalChain>(*this);
  }
  [[nodiscard]] bool resample_future(Seed seed) override {
    rng_ = Rng(seed);
    return true;
  }
  [[nodiscard]] EpisodeRecord summary() const override { return summary_; }

 private:
  void toss() { coin_ = static_cast<std::int32_t>(rng_.below(2)); }

  int limit_;
  EnvironmentSpec spec_;
  Rng rng_;
  EpisodeRecord summary_;
  std::int32_t coin_ = 0;
  int place_ = 0;
};

}  // namespace pacml::env

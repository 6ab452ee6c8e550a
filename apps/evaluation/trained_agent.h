#pragma once

#include <memory>
#include <span>

#include "env/agent.h"
#include "model/network_config.h"
#include "model/parameters.h"
#include "model/policy.h"

namespace pacml::apps {

// How an action is chosen by what a network says of all.
enum class Choice {
  kBest,   // the most probable one
  kDrawn,  // by their probabilities, as in training
};

// A trained network that acts; act() may throw model::UnsoundOutput. Thread-confined.
class TrainedAgent final : public env::Agent {
 public:
  // `graphs`: those of the task whose environments it acts in.
  TrainedAgent(const model::NetworkShape& shape, const model::Parameters& parameters,
               std::span<const env::GraphFeaturesPtr> graphs, Choice choice = Choice::kBest);
  ~TrainedAgent() override;
  void reset(Seed seed) override;
  [[nodiscard]] int act(const env::Environment& environment) override;
  // What the network says of the current decision, one row; borrowed until the next call. Throws as
  // act().
  [[nodiscard]] const model::PolicyOutput& evaluate(const env::Environment& environment);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::apps

#pragma once

#include <span>
#include <string_view>

#include "common/ids.h"
#include "common/result.h"
#include "env/graph_features.h"
#include "learner/algorithm.h"
#include "learner/algorithm_state.h"
#include "learner/network_training.h"
#include "model/parameters.h"
#include "model/trainable_network.h"
#include "model/value_heads.h"

namespace pacml::learner {

// An algorithm all of whose state is one network in training, but for what it adds to what is
// saved. `Kind`: SequenceAlgorithm or TransitionAlgorithm.
template <class Kind>
class NetworkAlgorithm : public Kind {
 public:
  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    training_.network().set_graphs(graphs);
  }
  void set_share_done(double share) override { training_.set_share_done(share); }
  [[nodiscard]] PolicyVersion version() const override { return training_.version(); }
  [[nodiscard]] model::Parameters snapshot() const override { return training_.folded(); }
  [[nodiscard]] AlgorithmState save() const override {
    AlgorithmState state = training_.save(name_);
    save_more(state);
    return state;
  }
  [[nodiscard]] Result<void> restore(const AlgorithmState& state) override {
    if (auto fits = training_.fits(name_, state); !fits) return fits;
    if (auto fits = more_fits(state); !fits) return fits;
    training_.restore(name_, state);
    restore_more(state);
    return {};
  }

 protected:
  // `name`: of its states, a literal. The rest is NetworkTraining's.
  NetworkAlgorithm(std::string_view name, model::TrainableNetwork& network,
                   const OptimizerConfig& optimizer, double popart_rate, model::ValueHeads heads,
                   bool centres_rewards = false)
      : training_(network, optimizer, popart_rate, heads, centres_rewards), name_(name) {}

  NetworkTraining training_;

 private:
  // What else is saved; whether it is there and fits (kVersionMismatch, as restore()); and taken
  // back, once all is known to fit.
  virtual void save_more(AlgorithmState& /*state*/) const {}
  [[nodiscard]] virtual Result<void> more_fits(const AlgorithmState& /*state*/) const { return {}; }
  virtual void restore_more(const AlgorithmState& /*state*/) {}

  std::string_view name_;
};

}  // namespace pacml::learner

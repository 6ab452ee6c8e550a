#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "common/ids.h"
#include "learner/losses/masked_categorical.h"
#include "learner/optimizer.h"
#include "model/trainable_network.h"

namespace pacml::learner {

// What somebody saw, and did.
struct Demonstrations {
  Observations observations;          // [N]; graphs by the indices of TrainableNetwork::set_graphs
  std::vector<std::int32_t> actions;  // [N], valid ones
};

struct CloningConfig {
  double probability = 0.9;                // that the policy is to give what was done; in (0, 1]
  std::int64_t passes = 10;                // over all demonstrations; >= 1
  std::int64_t minibatch_decisions = 512;  // >= 1
  double learning_rate = 1e-3;             // of Adam; > 0
};

// Behavioural cloning (Pomerleau 1991, doi:10.1162/neco.1991.3.1.88): moves the policy of a network
// towards what was demonstrated (losses/cross_entropy.h), in passes over all of it in minibatches.
// Of the network's value heads nothing is asked, so that they become what the policy's features
// make of them. A pure function of the weights, the demonstrations and the seed. Thread-confined.
class BehaviouralCloning {
 public:
  // Borrows both for its life. Pre: there is a demonstration, and each of its actions is valid
  // (PACML_CHECK).
  BehaviouralCloning(const CloningConfig& config, const Demonstrations& demonstrations,
                     model::TrainableNetwork& network, Seed seed);

  struct Pass {
    bool diverged = false;      // nothing finite came of it: the weights are not to be used
    std::size_t decisions = 0;  // that it came to; of them:
    double loss = 0;            // mean cross-entropy, nats
    double agreement = 0;       // share of decisions in which the likeliest action is the one done,
    double probability = 0;     // and the mean probability of that; before each minibatch's step
  };
  // The next pass. `goes_on` is asked before each minibatch; false ends it there.
  [[nodiscard]] Pass pass(const std::function<bool()>& goes_on = [] { return true; });

 private:
  [[nodiscard]] bool learn(std::span<const std::uint32_t> rows, Pass& sums);

  CloningConfig config_;
  const Demonstrations* demonstrations_;
  model::TrainableNetwork* network_;
  Seed seed_;
  std::uint64_t passes_ = 0;
  Optimizer optimizer_;
  std::vector<std::uint32_t> order_;
  // Kept between minibatches for their memory.
  MaskedCategorical policy_;
  std::vector<std::uint8_t> masks_;
  std::vector<std::int32_t> actions_;
  std::vector<float> weights_, logit_gradients_, value_gradients_;
};

}  // namespace pacml::learner

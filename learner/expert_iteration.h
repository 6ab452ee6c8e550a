#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/ids.h"
#include "learner/algorithm.h"
#include "learner/expert_iteration_config.h"
#include "learner/network_algorithm.h"
#include "learner/searched_decisions.h"
#include "model/trainable_network.h"

namespace pacml::learner {

// Expert iteration (Anthony et al. 2017, arXiv:1705.08439) on a network of any kind, whose heads
// are ValueHeads::kActions: its action values are moved towards what actors found by searching with
// it (losses/action_values.h). One update takes a batch's searched decisions into memory, and makes
// as many optimiser steps on minibatches drawn from there as draw each decision
// samples_per_decision times. A pure function of the batches and of the seed, which draws; but what
// is in memory is not part of the state that is saved: who goes on from a checkpoint gathers anew.
// Thread-confined.
class ExpertIteration final : public NetworkAlgorithm<SequenceAlgorithm> {
 public:
  // Borrows `network` for its life; the weights that it holds are where learning starts, but those
  // of its value, which become 0. `centred`: searches take the average reward off, so that it is
  // saved for whoever searches with these weights. Pre: validate(config) holds (PACML_CHECK).
  ExpertIteration(const ExpertIterationConfig& config, model::TrainableNetwork& network, Seed seed,
                  bool centred = false);

  [[nodiscard]] Result<UpdateReport> update(const TrainBatch& batch) override;
  [[nodiscard]] bool learns_from_searches() const override { return true; }

 private:
  // What the steps of an update came to, in sums.
  struct Figures;
  // Takes the batch's fresh decisions into memory; their levels, the means of their actions'
  // values.
  [[nodiscard]] std::vector<float> remember(const TrainBatch& batch);
  // One optimiser step on drawn_. False: nothing finite came of it.
  [[nodiscard]] bool learn(double learning_rate, Figures& figures);

  ExpertIterationConfig config_;
  Seed seed_;
  SearchMemory memory_;
  std::int64_t remembered_ = 0;  // in all, since memory_ was empty
  // Kept between updates for their memory.
  SearchedDecisions drawn_;
  std::vector<std::uint8_t> masks_;  // scratch
  std::vector<float> targets_, weights_, logit_gradients_, value_gradients_;
};

}  // namespace pacml::learner

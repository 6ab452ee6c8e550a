#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learner/algorithm.h"
#include "learner/losses/masked_categorical.h"
#include "learner/network_algorithm.h"
#include "learner/reinforce_config.h"
#include "learner/step_baselines.h"
#include "model/trainable_network.h"

namespace pacml::learner {

// REINFORCE (Williams 1992) with baselines for each graph and step (ReinforceConfig). One update is
// one optimiser step on the decisions of a batch whose episodes end in their sequences. The
// network's value is not learned. A pure function of the batches; but baselines are not part of the
// state that is saved: who goes on from a checkpoint gathers them anew. Thread-confined.
class Reinforce final : public NetworkAlgorithm<SequenceAlgorithm> {
 public:
  // Borrows `network` for its life; the weights that it holds are where learning starts. Pre:
  // validate(config) holds (PACML_CHECK).
  Reinforce(const ReinforceConfig& config, model::TrainableNetwork& network);

  [[nodiscard]] Result<UpdateReport> update(const TrainBatch& batch) override;

 private:
  // What is learned from a batch, one for each of its decisions [D].
  struct Lessons {
    std::vector<float> weights;  // 1 where it counts, 0 where not
    std::vector<float> returns;
    std::vector<float> advantages;  // 0 where it does not count
    std::int64_t stale = 0;
    std::int64_t unfinished = 0;
    std::int64_t decisions = 0;  // that count
  };
  [[nodiscard]] Lessons look_at(const TrainBatch& batch);
  // Every return joins its baseline, in the order of the batch.
  void find_advantages(const TrainBatch& batch, Lessons& lessons);
  void restore_more(const AlgorithmState& /*state*/) override { baselines_.clear(); }

  ReinforceConfig config_;
  StepBaselines baselines_;
  // Kept between updates for their memory.
  MaskedCategorical policy_;
  std::vector<std::uint8_t> masks_;  // scratch
  std::vector<float> logit_gradients_, value_gradients_;
};

}  // namespace pacml::learner

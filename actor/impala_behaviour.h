#pragma once

#include <vector>

#include "actor/actor_config.h"
#include "actor/behaviour.h"
#include "actor/sequence_writer.h"
#include "common/rng.h"

namespace pacml::actor {

// Draws actions from the policy's softmax and records sequences, with the probability that each
// action had. Thread-confined.
class ImpalaBehaviour final : public Behaviour {
 public:
  // `seed`: of this actor alone. `held_back`: SequenceWriter's.
  ImpalaBehaviour(const env::EnvironmentSpec& spec, const ActorConfig& config, Seed seed,
                  std::size_t held_back = 0);

  void begin(std::span<const std::size_t> environments) override;
  [[nodiscard]] std::span<const int> choose(const VectorEnv& environments,
                                            const model::PolicyOutput& output,
                                            PolicyVersion version) override;
  void record(const VectorEnv::Outcome& outcome) override;
  [[nodiscard]] bool full() const override { return writer_.full(); }
  [[nodiscard]] ActorMessage take(const VectorEnv& environments) override;

 private:
  SequenceWriter writer_;
  Rng rng_;
  PolicyVersion version_{};       // of the weights that chose last
  std::vector<int> actions_;      // [B]
  std::vector<float> log_probs_;  // [B]
};

}  // namespace pacml::actor

#pragma once

#include <vector>

#include "actor/actor_config.h"
#include "actor/behaviour.h"
#include "actor/exploration.h"
#include "actor/nstep_writer.h"
#include "model/policy.h"
#include "model/value_heads.h"

namespace pacml::actor {

// Acts greedily on a network's action values (model/value_heads.h), but for a share of
// random actions, and records n-step transitions with their first priorities. Thread-confined.
class ApexBehaviour final : public Behaviour {
 public:
  // Borrows `policy`, the loop's own, for the values of states in which an episode was cut.
  // `heads`: not kValue.
  ApexBehaviour(const env::EnvironmentSpec& spec, const ActorConfig& config,
                const NstepConfig& nstep, EpsilonGreedy exploration, model::Policy& policy,
                model::ValueHeads heads);

  [[nodiscard]] bool reads_values() const override { return true; }
  void begin(std::span<const std::size_t> environments) override;
  [[nodiscard]] std::span<const int> choose(const VectorEnv& environments,
                                            const model::PolicyOutput& output,
                                            PolicyVersion version) override;
  void record(const VectorEnv::Outcome& outcome) override;
  [[nodiscard]] bool full() const override { return writer_.full(); }
  [[nodiscard]] ActorMessage take(const VectorEnv& environments) override;

 private:
  // Computes q_ of a batch, and the greatest of each row into `best`.
  void evaluate_values(const Observations& observations, const model::PolicyOutput& output,
                       std::span<float> best);
  NstepWriter writer_;
  EpsilonGreedy exploration_;
  model::Policy* policy_;
  model::ValueHeads heads_;
  PolicyVersion version_{};                // of the weights that chose last
  std::vector<std::size_t> environments_;  // [B], in the rows
  std::vector<int> actions_;               // [B]
  std::vector<float> action_values_;       // [B]
  std::vector<float> best_values_;         // [B]
  std::vector<float> q_;                   // [B, A], scratch
  std::vector<std::uint8_t> masks_;        // scratch

  // Of the episodes that the last step cut.
  model::PolicyOutput last_output_;
  std::vector<float> last_best_values_;  // [last states]
};

}  // namespace pacml::actor

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "actor/actor_config.h"
#include "actor/behaviour.h"
#include "actor/expert_config.h"
#include "actor/sequence_writer.h"
#include "common/rng.h"
#include "planning/rollout_policy.h"
#include "planning/rollouts.h"

namespace pacml::actor {

// Searches every decision: plays each valid action in imagined futures (planning/rollouts.h), in
// which the newest policy decides, and records what the actions came to, for a learner to make the
// policy's own. Acts by the policy, but for a share of random actions, so that it sees the states
// that the policy leads to. Thread-confined.
class ExpertBehaviour final : public Behaviour {
 public:
  // `policy`: decides in the futures. `seed`: of this actor alone. Pre: validate(expert) finds
  // nothing (PACML_CHECK).
  ExpertBehaviour(const env::EnvironmentSpec& spec, const ActorConfig& config,
                  const ExpertConfig& expert, std::unique_ptr<planning::RolloutPolicy> policy,
                  Seed seed);

  void begin(std::span<const std::size_t> environments) override;
  // UserError: an environment's future cannot be drawn. UnsoundOutput: the policy says nothing that
  // can be acted upon in one of them; nothing is recorded.
  [[nodiscard]] std::span<const int> choose(const VectorEnv& environments,
                                            const model::PolicyOutput& output,
                                            PolicyVersion version) override;
  void record(const VectorEnv::Outcome& outcome) override;
  [[nodiscard]] bool full() const override { return writer_.full(); }
  [[nodiscard]] ActorMessage take(const VectorEnv& environments) override;

 private:
  // What row b has of a column that is as long as valid_.
  template <class T>
  [[nodiscard]] std::span<T> row_of(std::span<T> column, std::size_t b) const {
    const std::size_t begin = b == 0 ? 0 : ends_[b - 1];
    return column.subspan(begin, ends_[b] - begin);
  }
  // Fills action_values_ of the environments as they are.
  void search(const VectorEnv& environments);
  // Fills sums_ by futures of their own, and moves pace_.
  void play_futures(const VectorEnv& environments);

  ExpertConfig expert_;
  SequenceWriter writer_;
  std::unique_ptr<planning::RolloutPolicy> policy_;
  planning::Rollouts rollouts_;
  PolicyVersion version_{};  // of the weights that choose
  Rng exploration_;
  Rng futures_;
  planning::Rollouts::Pace pace_;     // of the policy, lately
  bool paced_ = false;                // that it is known
  std::vector<int> actions_;          // [B]
  std::vector<float> log_probs_;      // [B]
  std::vector<float> action_values_;  // of each row's valid candidates in turn
  // Scratch.
  std::vector<int> valid_;         // of each row in turn
  std::vector<std::size_t> ends_;  // [B], of each row's in valid_
  std::vector<double> sums_;       // [valid]
};

}  // namespace pacml::actor

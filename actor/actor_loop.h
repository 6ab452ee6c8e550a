#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "actor/actor_config.h"
#include "actor/experience_sink.h"
#include "actor/unroll_writer.h"
#include "actor/vector_env.h"
#include "common/ids.h"
#include "common/rng.h"
#include "model/policy.h"

namespace pacml::actor {

// Acts in many environments with one policy: one forward pass for all of them per step, actions
// drawn from the policy, newest weights taken between messages. A pure function of the seed and of
// the weights it is given. Thread-confined.
class ActorLoop {
 public:
  // Borrows `policy` for its life. `seed`: of this actor alone.
  ActorLoop(const ActorConfig& config, const EnvironmentFactory& make_environment,
            model::Policy& policy, Seed seed);

  void set_parameters(const model::Parameters& parameters);
  // Acts for one message's worth of steps. Pre: weights were set.
  [[nodiscard]] Unrolls run_unroll();

  // Acts until told to stop: fetches weights, acts, hands over. The error that ended it; kStopped
  // when that is the stop token or the learner's end.
  [[nodiscard]] Error run(ExperienceSink& sink, std::stop_token stop);

  [[nodiscard]] std::int64_t decisions() const { return decisions_; }

 private:
  void choose_actions();

  VectorEnv environments_;
  model::Policy* policy_;
  UnrollWriter writer_;
  Rng rng_;
  PolicyVersion version_;
  model::PolicyOutput output_;
  std::vector<int> actions_;
  std::vector<float> log_probs_;
  std::int64_t decisions_ = 0;
};

}  // namespace pacml::actor

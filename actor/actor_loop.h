#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "actor/actor_config.h"
#include "actor/behaviour.h"
#include "actor/experience_sink.h"
#include "actor/vector_env.h"
#include "common/ids.h"
#include "model/policy.h"

namespace pacml::actor {

// Acts in many environments with one policy: one forward pass for all of them per step, actions
// chosen and recorded as the algorithm wants it, newest weights taken between messages. A pure
// function of the seed and of the weights it is given. Thread-confined.
class ActorLoop {
 public:
  // Borrows `policy` for its life. `behaviour`: made for this task, this configuration and this
  // seed. `seed`: of this actor alone.
  ActorLoop(const ActorConfig& config, const EnvironmentFactory& make_environment,
            model::Policy& policy, std::unique_ptr<Behaviour> behaviour, Seed seed);

  void set_parameters(const model::Parameters& parameters);
  // Acts for one message's worth of steps. Pre: weights were set.
  [[nodiscard]] ActorMessage run_message();

  // Acts until told to stop: fetches weights, acts, hands over. The error that ended it; kStopped
  // when that is the stop token or the learner's end.
  [[nodiscard]] Error run(ExperienceSink& sink, std::stop_token stop);

  [[nodiscard]] std::int64_t decisions() const { return decisions_; }

 private:
  VectorEnv environments_;
  model::Policy* policy_;
  std::unique_ptr<Behaviour> behaviour_;
  PolicyVersion version_;
  model::PolicyOutput output_;
  std::int64_t decisions_ = 0;
};

}  // namespace pacml::actor

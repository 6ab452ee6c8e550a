#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "actor/actor_config.h"
#include "actor/behaviour.h"
#include "actor/experience_sink.h"
#include "actor/vector_env.h"
#include "common/ids.h"
#include "common/result.h"
#include "model/policy.h"

namespace pacml::actor {

// Acts in many environments with one policy: one forward pass for all of them per step, actions
// chosen and recorded as the algorithm wants it, newest weights taken between messages. A pure
// function of the seed, of the weights it is given and of how much it is asked for.
// Thread-confined.
class ActorLoop {
 public:
  // Borrows `policy` for its life. `behaviour`: made for this task, this configuration and this
  // seed. `seed`: of this actor alone.
  ActorLoop(const ActorConfig& config, const env::EnvironmentFactory& make_environment,
            model::Policy& policy, std::unique_ptr<Behaviour> behaviour, Seed seed);

  // Weights that are not finite are refused: the former ones stay.
  void set_parameters(const model::Parameters& parameters);
  // Acts for one message's worth of steps: unroll_length of each environment, or of so many of
  // them, in turns. Where the newest weights say nothing that can be acted upon (model::is_sound),
  // also of a state that is only imagined, it goes on with those before them; UserError: there are
  // none. Pre: weights were given.
  [[nodiscard]] ActorMessage run_message() { return run_message(environments_.total()); }
  [[nodiscard]] ActorMessage run_message(std::size_t unrolls);

  // Acts until told to stop: waits until it may, fetches weights, acts, hands over. However long
  // acting takes, the sink is tended to meanwhile, and what is no longer wanted is not finished.
  // The error that ended it; kStopped when that is the stop token or the learner's end.
  [[nodiscard]] Error run(ExperienceSink& sink, std::stop_token stop);

  [[nodiscard]] std::int64_t decisions() const { return decisions_; }
  // Weights that were not worked with, or no more.
  [[nodiscard]] std::int64_t refused_weights() const { return refused_weights_; }

 private:
  void begin(std::size_t unrolls);
  void step();
  [[nodiscard]] Result<ActorMessage> act(std::size_t unrolls, ExperienceSink& sink,
                                         const std::stop_token& stop);
  // What the behaviour chooses.
  [[nodiscard]] std::span<const int> decide();
  // Fills output_ for the environments as they are, with what can be acted upon.
  void evaluate();
  // Takes the weights before the newest, which say nothing that can be acted upon.
  void go_back();
  void ask_policy();
  void refuse(PolicyVersion version, const char* why);

  VectorEnv environments_;
  model::Policy* policy_;
  std::unique_ptr<Behaviour> behaviour_;
  // Weights, and whether they have been acted with.
  struct Weights {
    model::Parameters parameters;
    bool proven = false;
  };
  Weights newest_;  // the policy's
  Weights former_;  // the last proven ones before them
  model::PolicyOutput output_;
  std::int64_t decisions_ = 0;
  std::int64_t refused_weights_ = 0;
};

}  // namespace pacml::actor

#pragma once

#include <optional>
#include <stop_token>
#include <variant>

#include "common/experience/transitions.h"
#include "common/experience/unrolls.h"
#include "common/result.h"
#include "model/parameters.h"

namespace pacml::actor {

// What an actor hands over at once: of IMPALA, of Ape-X.
using ActorMessage = std::variant<Unrolls, PrioritizedTransitions>;

// Where an actor's experience goes and where its weights come from. Thread-confined to the actor.
class ExperienceSink {
 public:
  virtual ~ExperienceSink() = default;
  // Hands over one message, of the kind that the sink is for (PACML_CHECK); waits while its
  // receiver has no room for it. kStopped: a stop was requested, or the learner is about to end.
  [[nodiscard]] virtual Result<void> send(ActorMessage&& message, std::stop_token stop) = 0;
  // The newest weights that have arrived since the last call, if any. Never waits for the network.
  [[nodiscard]] virtual std::optional<model::Parameters> newest_parameters() = 0;
  // The first weights; waits for them. kStopped as above.
  [[nodiscard]] virtual Result<model::Parameters> first_parameters(std::stop_token stop) = 0;
};

}  // namespace pacml::actor

#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <stop_token>
#include <variant>

#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/result.h"
#include "model/parameters.h"

namespace pacml::actor {

// What an actor hands over at once: of IMPALA, of Ape-X.
using ActorMessage = std::variant<Sequences, PrioritizedTransitions>;

// Leave to act for one message.
struct Work {
  // Of whole unrolls, so many at most; an actor that has fewer environments makes one of each.
  std::size_t unrolls = std::numeric_limits<std::size_t>::max();
};

// Where an actor's experience goes and where its weights come from. Thread-confined to the actor.
class ExperienceSink {
 public:
  virtual ~ExperienceSink() = default;
  // Waits until the receiver has room for what we would do next, and says how much it wants. So an
  // actor that is not needed does nothing, and one that is acts with the newest weights. kStopped
  // as below.
  [[nodiscard]] virtual Result<Work> next_work(std::stop_token stop) = 0;
  // Says what is due to whoever the receivers are, that they know us to be there, and hears whether
  // they end; never waits. For one who acts for long. Errors as those of next_work, which says them
  // again.
  [[nodiscard]] virtual Result<void> tend() = 0;
  // Hands over one message, of the kind that the sink is for (PACML_CHECK); waits while its
  // receiver has no room for it. kStopped: a stop was requested, or the learner is about to end.
  [[nodiscard]] virtual Result<void> send(ActorMessage&& message, std::stop_token stop) = 0;
  // The newest weights that have arrived since the last call, if any. Where newer ones were asked
  // for, it may wait for them, for patience.weights_seconds at most.
  [[nodiscard]] virtual std::optional<model::Parameters> newest_parameters() = 0;
  // The first weights; waits for them. kStopped as above.
  [[nodiscard]] virtual Result<model::Parameters> first_parameters(std::stop_token stop) = 0;
};

}  // namespace pacml::actor

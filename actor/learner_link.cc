#include "actor/learner_link.h"

#include <utility>
#include <variant>

#include "common/check.h"

namespace pacml::actor {

LearnerLink::LearnerLink(transport::FrameClient& learner, transport::FrameSubscriber& announcements,
                         wire::Hello hello, std::span<const env::GraphFeaturesPtr> graphs,
                         const LinkConfig& config, const Clock& clock)
    : learner_(learner, {"learner", ServerLink::WhenItStops::kEnd}, std::move(hello), graphs,
               config, &weights_, clock),
      weights_(learner_, announcements, WeightsInbox::Supply::kWithWork, config, clock) {}

Result<wire::Welcome> LearnerLink::join(std::stop_token stop) { return learner_.join(stop); }

Result<Work> LearnerLink::next_work(std::stop_token stop) {
  return learner_.await_grant(stop).map([](std::uint32_t unrolls) { return Work{unrolls}; });
}

Result<void> LearnerLink::tend() { return learner_.tend(); }

Result<void> LearnerLink::send(ActorMessage&& message, std::stop_token stop) {
  auto* sequences = std::get_if<Sequences>(&message);
  PACML_CHECK(sequences != nullptr, "a learner of sequences is sent sequences");
  return learner_.send(wire::Experience{{}, {}, {}, std::move(*sequences)}, stop);
}

std::optional<model::Parameters> LearnerLink::newest_parameters() { return weights_.newest(); }

Result<model::Parameters> LearnerLink::first_parameters(std::stop_token stop) {
  return weights_.first(stop);
}

void LearnerLink::leave(const std::string& reason) { learner_.say(wire::Goodbye{reason}); }

}  // namespace pacml::actor

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "actor/experience_sink.h"
#include "actor/server_link.h"
#include "actor/weights_inbox.h"
#include "common/clock.h"
#include "common/transport/channel.h"
#include "common/wire/messages.h"
#include "env/graph_features.h"

namespace pacml::actor {

// IMPALA's connection: one conversation with the learner, for sequences one way and weights the
// other. Thread-confined, as are the transports that it borrows; the clock is borrowed, too.
class LearnerLink final : public ExperienceSink {
 public:
  // `hello`: who we are; its incarnation rises with every join. `graphs`: sent when asked for.
  LearnerLink(transport::FrameClient& learner, transport::FrameSubscriber& announcements,
              wire::Hello hello, std::span<const env::GraphFeaturesPtr> graphs,
              const LinkConfig& config = {}, const Clock& clock = steady());

  // Says Hello until the learner welcomes us. Errors here and below as ServerLink's.
  [[nodiscard]] Result<wire::Welcome> join(std::stop_token stop);

  [[nodiscard]] Result<Work> next_work(std::stop_token stop) override;
  [[nodiscard]] Result<void> tend() override;
  // Sequences only.
  [[nodiscard]] Result<void> send(ActorMessage&& message, std::stop_token stop) override;
  [[nodiscard]] std::optional<model::Parameters> newest_parameters() override;
  [[nodiscard]] Result<model::Parameters> first_parameters(std::stop_token stop) override;
  // Tells the learner that we leave. Never waits.
  void leave(const std::string& reason);

  [[nodiscard]] std::uint64_t joins() const { return learner_.joins(); }
  // Messages that were on their way when a connection was lost: perhaps never received.
  [[nodiscard]] std::uint64_t unacknowledged() const { return learner_.unacknowledged(); }

 private:
  ServerLink learner_;
  WeightsInbox weights_;
};

}  // namespace pacml::actor

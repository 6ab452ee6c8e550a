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

// Ape-X's connections: transitions to a replay shard, weights from the learner. The two
// conversations have incarnations and sequence numbers of their own, and each outlives its server:
//   the shard goes    sending waits for it, or for another in its place; nothing piles up
//   the learner goes  acting goes on with the weights that are there, while it is joined again
// Either being away longer than its LinkConfig::give_up ends the link. So does the learner's end in
// order; a shard's does not. Thread-confined, as are the transports that it borrows; the clock is
// borrowed, too.
class ReplayLink final : public ExperienceSink {
 public:
  // `hello`: who we are, to both; its incarnation rises with every join. `graphs`: sent when asked
  // for, to both. `config`: of both conversations; `shard_give_up`, where it is given, of the
  // shard's in the place of its give_up.
  ReplayLink(transport::FrameClient& learner, transport::FrameSubscriber& announcements,
             transport::FrameClient& shard, const wire::Hello& hello,
             std::span<const env::GraphFeaturesPtr> graphs, const LinkConfig& config = {},
             std::optional<Duration> shard_give_up = {}, const Clock& clock = steady());

  // Says Hello until the learner welcomes us; the shard is joined with the first message. Errors
  // here and below as ServerLink's.
  [[nodiscard]] Result<wire::Welcome> join(std::stop_token stop);

  [[nodiscard]] Result<Work> next_work(std::stop_token stop) override;
  [[nodiscard]] Result<void> tend() override;
  // Transitions only.
  [[nodiscard]] Result<void> send(ActorMessage&& message, std::stop_token stop) override;
  [[nodiscard]] std::optional<model::Parameters> newest_parameters() override;
  [[nodiscard]] Result<model::Parameters> first_parameters(std::stop_token stop) override;
  // Tells both that we leave. Never waits.
  void leave(const std::string& reason);

  [[nodiscard]] std::uint64_t learner_joins() const { return learner_.joins(); }
  [[nodiscard]] std::uint64_t shard_joins() const { return shard_.joins(); }
  // Whether it was the shard that ended the link, by being away.
  [[nodiscard]] bool shard_is_gone() const { return shard_.ended(); }
  // Messages that were on their way when a connection to a shard was lost: perhaps never received.
  [[nodiscard]] std::uint64_t unacknowledged() const { return shard_.unacknowledged(); }

 private:
  ServerLink learner_;
  WeightsInbox weights_;
  ServerLink shard_;
};

}  // namespace pacml::actor

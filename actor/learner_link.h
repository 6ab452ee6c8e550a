#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "actor/experience_sink.h"
#include "common/transport/channel.h"
#include "common/wire/messages.h"
#include "env/graph_features.h"

namespace pacml::actor {

struct LearnerLinkConfig {
  std::chrono::milliseconds hello_interval{500};      // between Hellos that nobody answers
  std::chrono::milliseconds ping_interval{1'000};     // of silence while waiting, before we ask
  std::chrono::milliseconds silence{5'000};           // ... before we say Hello again
  std::chrono::seconds give_up{600};                  // without a learner: an error
  std::chrono::microseconds weights_patience{2'000};  // for announced weights, between two messages
};

// The actor's end of the protocol (docs/protocol.md): Hello and Welcome, credits, sequence numbers,
// weights and graphs, over any transport. Survives the learner: when it comes back, or forgets us,
// the link joins again as a new incarnation. Thread-confined, as are the transports that it
// borrows.
class LearnerLink final : public ExperienceSink {
 public:
  // `hello`: who we are; its incarnation rises with every join. `graphs`: sent when asked for.
  LearnerLink(transport::FrameClient& learner, transport::FrameSubscriber& announcements,
              wire::Hello hello, std::span<const env::GraphFeaturesPtr> graphs,
              const LearnerLinkConfig& config = {});

  // Says Hello until the learner welcomes us. kVersionMismatch with the learner's sentence: it
  // refuses us for good (another configuration, another run). kTimeout: no learner came. kStopped.
  [[nodiscard]] Result<wire::Welcome> join(std::stop_token stop);

  [[nodiscard]] Result<void> send(Unrolls&& unrolls, std::stop_token stop) override;
  [[nodiscard]] std::optional<model::Parameters> newest_parameters() override;
  [[nodiscard]] Result<model::Parameters> first_parameters(std::stop_token stop) override;
  // Tells the learner that we leave. Never waits.
  void leave(const std::string& reason);

  [[nodiscard]] std::uint64_t joins() const { return joins_; }
  // Messages that were on their way when a connection was lost: perhaps never received.
  [[nodiscard]] std::uint64_t unacknowledged() const { return unacknowledged_; }

 private:
  [[nodiscard]] Result<void> transmit(wire::Message message);
  // Waits for one frame and acts on it; kTimeout when none came.
  [[nodiscard]] Result<void> pump(Deadline deadline);
  [[nodiscard]] Result<void> handle(wire::Message message);
  void send_graph(GraphHash hash);
  void request_weights();
  void ping_if_silent();
  void hear_announcements();
  [[nodiscard]] Result<void> keep_joined(std::stop_token stop);
  [[nodiscard]] std::optional<model::Parameters> take_newest();
  [[nodiscard]] Result<void> end(Errc code, std::string reason);

  transport::FrameClient* learner_;
  transport::FrameSubscriber* announcements_;
  wire::Hello hello_;
  std::vector<env::GraphFeaturesPtr> graphs_;
  LearnerLinkConfig config_;

  bool joined_ = false;
  wire::Welcome welcome_;
  std::uint64_t granted_ = 0;  // credits since the Welcome
  Sequence sent_;              // messages since the Welcome, each of which took a credit
  Sequence acknowledged_;
  std::uint64_t joins_ = 0;
  std::uint64_t unacknowledged_ = 0;
  TimePoint last_heard_;
  TimePoint last_ping_;
  std::optional<Error> ended_;  // the learner has sent us away for good

  PolicyVersion have_;  // handed to the actor
  PolicyVersion announced_;
  bool weights_requested_ = false;
  int calls_without_news_ = 0;               // of newest_parameters()
  std::optional<model::Parameters> newest_;  // received, not yet handed over
};

}  // namespace pacml::actor

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "actor/experience_sink.h"
#include "actor/server_link.h"
#include "actor/weights_inbox.h"
#include "common/clock.h"
#include "common/histogram.h"
#include "common/transport/channel.h"
#include "env/graph_features.h"

namespace pacml::bench {

// What actors sent once, to be sent again and again: recorded by a real actor of the same
// configuration. Immutable.
struct CannedExperience {
  std::vector<std::vector<actor::ActorMessage>> sizes;  // [n - 1]: of n unrolls; taken in turn
  double decisions_per_message = 0;                     // means, of the largest
  double bytes_per_decision = 0;                        // on the wire, without the transport's own
};
// Messages of 1, 2, ... unrolls; or of one number of them, whatever is asked for. Pre: no list is
// empty.
[[nodiscard]] CannedExperience can(std::vector<std::vector<actor::ActorMessage>> sizes);
[[nodiscard]] CannedExperience can(std::vector<actor::ActorMessage> messages);

// An actor without a simulator: it speaks the protocol over the links of a real one, and where that
// would act it takes experience from a can, with its own name, numbers and policy version. As a
// real one it waits for leave to act, then takes the newest weights, then acts, which takes it as
// long as its pace says, and sends as much as was asked for. Never blocks, so that one thread
// drives thousands. Thread-confined, as are the transports.
class ProtocolActor {
 public:
  struct Connections {
    transport::FrameClient* learner = nullptr;
    transport::FrameSubscriber* announcements = nullptr;
    transport::FrameClient* shard = nullptr;  // null: experience goes to the learner
  };
  struct Pace {
    Duration first{0};         // how long after it is ready it begins
    Duration per_decision{0};  // how long it acts for one; 0: no time at all
  };
  // Since construction, over all lives.
  struct Tally {
    std::uint64_t sent = 0;
    std::uint64_t accepted = 0;       // as the server says in Credit
    std::uint64_t decisions = 0;      // in these
    std::uint64_t weights = 0;        // fetched
    std::uint64_t weights_bytes = 0;  // of their values
    std::uint64_t joins = 0;          // of the server that experience goes to
  };

  // Borrows transports and `canned`. `round_trips`: where it counts the microseconds from a message
  // to the word that it was accepted; borrowed.
  ProtocolActor(const Connections& connections, const wire::Hello& hello,
                std::span<const env::GraphFeaturesPtr> graphs, const CannedExperience& canned,
                const Pace& pace, Histogram& round_trips);
  ProtocolActor(const ProtocolActor&) = delete;
  ProtocolActor& operator=(const ProtocolActor&) = delete;
  ~ProtocolActor() = default;

  // Hears all that has come and says what is due; when to be called again at the latest, though
  // nothing comes. Errors as ServerLink's: the conversation is over.
  [[nodiscard]] Result<TimePoint> advance(TimePoint now);
  // From now on nothing is sent but what a conversation needs.
  void fall_silent() { silent_ = true; }

  // Welcomed by every server that it needs, with weights to act with.
  [[nodiscard]] bool ready() const { return joined() && version_.has_value(); }
  [[nodiscard]] bool joined() const { return learner_.joined() && experience().joined(); }
  // What was sent and not yet said to be accepted.
  [[nodiscard]] std::uint64_t unaccepted() const { return tally_.sent - tally_.accepted; }
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  [[nodiscard]] actor::ServerLink& experience() { return shard_ ? *shard_ : learner_; }
  [[nodiscard]] const actor::ServerLink& experience() const { return shard_ ? *shard_ : learner_; }
  [[nodiscard]] Result<void> act_and_send(TimePoint now);
  [[nodiscard]] bool may_act() const {
    return experience().joined() && experience().progress().sent < experience().progress().granted;
  }
  [[nodiscard]] wire::Message make(const actor::ServerLink::Stamp& stamp) const;
  void take_weights();
  void count(TimePoint now);

  actor::ServerLink learner_;
  actor::WeightsInbox weights_;
  std::optional<actor::ServerLink> shard_;
  const CannedExperience* canned_;
  Pace pace_;
  Histogram* round_trips_;

  std::optional<PolicyVersion> version_;  // of the newest weights that came
  bool silent_ = false;
  std::optional<TimePoint> begins_;  // when it may begin to act; once it is ready
  // What it does now, from when on that can be sent.
  struct Acting {
    TimePoint until;
    PolicyVersion version;
    const actor::ActorMessage* message = nullptr;
  };
  std::optional<Acting> acting_;
  std::size_t next_canned_ = 0;
  // Of the present conversation: its number, what was accepted of it, and what was not yet.
  struct Sent {
    TimePoint at;
    std::uint64_t decisions = 0;
  };
  std::uint64_t life_ = 0;
  std::uint64_t accepted_ = 0;
  std::deque<Sent> unaccepted_;  // the messages from accepted_ + 1 on
  Tally tally_;
};

}  // namespace pacml::bench

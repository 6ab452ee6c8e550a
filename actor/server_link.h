#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "common/transport/channel.h"
#include "common/transport/patience_config.h"
#include "common/wire/messages.h"
#include "env/graph_features.h"

namespace pacml::actor {

// A conversation at one moment.
struct LinkReport {
  std::string_view server;  // "learner", "replay shard"
  bool joined = false;
  std::uint64_t joins = 0;
  std::uint64_t unacknowledged = 0;
  std::uint64_t malformed = 0;
};

struct LinkConfig {
  // What the configuration says, in seconds.
  [[nodiscard]] static LinkConfig from(const transport::PatienceConfig& config);

  using Default = transport::PatienceConfig;
  Duration hello_interval = in_seconds(Default{}.hello_seconds);  // of Hellos that nobody answers
  Duration ping_interval = in_seconds(Default{}.ping_seconds);    // of silence, before we ask
  Duration silence = in_seconds(Default{}.silence_seconds);       // after that, before Hello again
  Duration give_up = in_seconds(Default{}.give_up_seconds);       // without a server: an error
  // For weights, between two messages.
  Duration weights_patience = in_seconds(Default{}.weights_seconds);
  // For an answer, before we ask for them again.
  Duration weights_lost = in_seconds(Default{}.lost_seconds);
  // Called from within the link's functions, several times a second while one of them waits.
  std::function<void(const LinkReport&)> report = {};
};

// An actor's conversation with one server (docs/protocol.md), whatever it carries: Hello and
// Welcome, grants, sequence numbers, pings, graphs on demand. Survives the server: when it comes
// back, or forgets us, the link joins again as a new incarnation. Thread-confined, as is the
// transport that it borrows.
//
// Errors are final, but for a stop token's kStopped: the link then says the same for ever.
//   kVersionMismatch  the server refuses us for good (another configuration, another run, a key
//                     that it does not know), or speaks another version of the protocol; with a
//                     sentence
//   kTimeout          no server answered within `give_up`; with the reason, where one is known
//   kStopped          the server is about to end, which we have confirmed, or the transport is
//                     closing
//   kOverLimit        the server sends more than is believed
class ServerLink {
 public:
  // Learns what is not about the conversation itself. Called from within the link's functions.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void joined(const wire::Welcome& welcome) = 0;
    virtual void received(wire::Message&& message) = 0;
  };
  // What a server's own end means to us: ours, or that another is to come in its place.
  enum class WhenItStops { kEnd, kWaitForAnother };
  struct Server {
    std::string name;  // "learner", ...: in sentences
    WhenItStops when_it_stops = WhenItStops::kEnd;
  };
  // How a message is numbered.
  struct Stamp {
    ActorId actor;
    Incarnation incarnation;
    Sequence sequence;
  };
  using MakeMessage = std::function<wire::Message(const Stamp&)>;
  // Done again and again while a wait lasts; its error ends the wait.
  using Meanwhile = std::function<Result<void>()>;

  // `hello`: who we are; its incarnation rises with every join. `graphs`: sent when asked for.
  // Borrows the transport, the clock and the listener, which may be null.
  ServerLink(transport::FrameClient& transport, Server server, wire::Hello hello,
             std::span<const env::GraphFeaturesPtr> graphs, const LinkConfig& config,
             Listener* listener, const Clock& clock = steady());
  ServerLink(const ServerLink&) = delete;
  ServerLink& operator=(const ServerLink&) = delete;
  ~ServerLink() = default;

  // Waits until the server has welcomed us.
  [[nodiscard]] Result<wire::Welcome> join(std::stop_token stop);
  // Waits until the server grants another message, joining again where that is needed; how many
  // unrolls it shall hold.
  [[nodiscard]] Result<std::uint32_t> await_grant(std::stop_token stop,
                                                  const Meanwhile& meanwhile = {});
  // Waits for a grant as well, should it have been lost with a conversation, then for room in the
  // queue: in the next conversation, where this one comes to its end meanwhile. `message`:
  // Experience or Insert, which is numbered here.
  [[nodiscard]] Result<void> send(wire::Message message, std::stop_token stop,
                                  const Meanwhile& meanwhile = {});
  // The same without waiting; false: there is no grant, or no room in the queue. `make` may be
  // asked for the same message again.
  [[nodiscard]] Result<bool> try_send(const MakeMessage& make);
  // Acts on what has come and says what is due: Hello to a server that has gone, Ping to a silent
  // one. Never waits. For those who have long nothing to send.
  [[nodiscard]] Result<void> tend();
  // Acts on what has come. Never waits, says nothing of its own accord.
  [[nodiscard]] Result<void> drain();
  // Waits for one frame and acts on it; false: none came.
  [[nodiscard]] Result<bool> hear(Deadline deadline);
  // Sends what takes no grant, unless the queue is full: then false. Never waits.
  bool say(const wire::Message& message);

  [[nodiscard]] bool joined() const { return state_ == State::kJoined; }
  // Whether an error has ended it.
  [[nodiscard]] bool ended() const { return ended_.has_value(); }
  [[nodiscard]] std::uint64_t joins() const { return joins_; }
  // Messages that were on their way when a connection was lost: perhaps never received.
  [[nodiscard]] std::uint64_t unacknowledged() const { return unacknowledged_; }
  // Frames that did not decode, dropped.
  [[nodiscard]] std::uint64_t malformed() const { return malformed_; }
  // One that came otherwise than over this link, from the same server.
  void count_malformed() { ++malformed_; }
  // Of this conversation: messages sent, the last one that the server has accepted, how many may be
  // sent in all, and how many unrolls the next one shall hold.
  struct Progress {
    std::uint64_t sent = 0;
    std::uint64_t accepted = 0;
    std::uint64_t granted = 0;
    std::uint32_t unrolls = 1;
  };
  [[nodiscard]] Progress progress() const {
    return {sent_.get(), acknowledged_.get(), granted_, unrolls_};
  }
  // How long a wait may last before tend() has something to do.
  [[nodiscard]] Duration slice() const { return slice_; }

 private:
  enum class State { kApart, kJoining, kJoined };

  [[nodiscard]] Result<void> handle(wire::Message message);
  [[nodiscard]] Result<void> refused(wire::Refused refusal);
  [[nodiscard]] Result<void> outdated(wire::Refused refusal);
  [[nodiscard]] Result<void> stopped(std::string reason);
  [[nodiscard]] Result<void> end(Errc code, std::string reason);
  void send_graph(GraphHash hash);
  // Drains, and notices that the server has long been silent.
  [[nodiscard]] Result<void> listen();
  // Says what is due.
  [[nodiscard]] Result<void> speak();
  // Listens; false: nothing may be sent, and what is due instead was said.
  [[nodiscard]] Result<bool> may_send();
  [[nodiscard]] Stamp next_stamp() const {
    return {hello_.actor, hello_.incarnation, Sequence{sent_.get() + 1}};
  }
  // False: the queue stayed full, and the frame is untouched.
  [[nodiscard]] Result<bool> hand_over(wire::Frame& frame, Deadline deadline);
  void begin_joining();
  [[nodiscard]] Result<void> say_hello();
  // Tells the log why there is no connection; an error where there will be none.
  [[nodiscard]] Result<void> notice_trouble();
  void say_ping();
  void lose() {
    if (state_ == State::kJoined) state_ = State::kApart;
  }

  transport::FrameClient* transport_;
  Server server_;
  wire::Hello hello_;
  std::vector<env::GraphFeaturesPtr> graphs_;
  LinkConfig config_;
  Duration slice_;
  Listener* listener_;
  const Clock* clock_;

  State state_ = State::kApart;
  TimePoint give_up_at_;  // while joining
  TimePoint tell_at_;     // ... that nobody has answered; once
  TimePoint next_hello_;
  std::string trouble_;  // why there is no connection, as the log was told
  wire::Welcome welcome_;
  std::uint64_t granted_ = 0;  // messages since the Welcome
  std::uint32_t unrolls_ = 1;  // in each, as was said last
  Sequence sent_;              // messages since the Welcome, each of which used a grant
  Sequence acknowledged_;
  std::uint64_t joins_ = 0;
  std::uint64_t unacknowledged_ = 0;
  std::uint64_t malformed_ = 0;
  TimePoint last_heard_;
  TimePoint last_ping_;
  std::optional<TimePoint> unanswered_since_;  // the first Ping since we heard anything
  std::optional<Error> ended_;
};

}  // namespace pacml::actor

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"
#include "common/serving/graph_gate.h"
#include "common/serving/sessions.h"
#include "common/transport/channel.h"
#include "common/wire/messages.h"

namespace pacml::serving {

// Counters since construction.
struct ServerCounters {
  std::uint64_t actors = 0;      // welcomed and not gone, now
  std::uint64_t accepted = 0;    // messages of experience
  std::uint64_t duplicates = 0;  // dropped: seen before
  std::uint64_t gaps = 0;        // sequence numbers that never came
  std::uint64_t malformed = 0;   // frames that did not decode
  std::uint64_t refused = 0;     // peers or messages turned away
  // Accepted messages that were dropped: too many bytes waited, or whoever had sent them was gone
  // before there was room, or their graphs.
  std::uint64_t no_room = 0;
  std::uint64_t denied = 0;  // connections turned away because of their key
};

// A server's end of the protocol (docs/protocol.md), as far as it is the same wherever experience
// goes: hears and answers peers, welcomes actors, takes their messages exactly once, holds those
// back whose graphs are unknown, drops what there is no room for, and tells of grants. What
// becomes of a message is the server's, as is whatever only its own peers say.
// `Message`: what carries the experience, wire::Experience or wire::Insert. Memory is bounded by
// what actors are granted, and by `max_waiting_bytes`.
// Thread-confined, but for counters and let_go: thread-safe.
template <class Message>
class ActorDesk {
 public:
  // What the server does for it, on the same thread. Each must be there.
  struct Hooks {
    std::function<bool(GraphHash)> has_graph;
    // Takes a message all of whose graphs are there. False: there is no room now, and it was left
    // untouched. `bytes`: of its frame; they count as waiting until let_go.
    std::function<bool(const transport::PeerId&, Message&&, std::size_t bytes)> take;
    std::function<std::string()> status;  // for GetStatus
  };

  // `max_waiting_bytes`: of messages that wait; what would exceed them is dropped, unless nothing
  // else waits. Borrows the clock.
  ActorDesk(const RunIdentity& run, const SessionsConfig& config, std::size_t max_waiting_bytes,
            Hooks hooks, const Clock& clock = steady());

  // Before anything is heard or said. Borrows the transport until the last such call.
  void open(transport::FrameServer& transport) { transport_ = &transport; }
  // Goes on from a snapshot of what was accepted.
  void restore(const wire::SequenceTracker::State& accepted);

  // What has come, where it is the server's to deal with: a Hello, what an actor says beyond Ping
  // and Goodbye, and whatever somebody says who is no actor here. nullopt: it was dealt with. The
  // actor of a key that is no longer allowed is forgotten.
  [[nodiscard]] std::optional<wire::Message> hear(const transport::Incoming& incoming);
  // Whether it is an actor that was welcomed, and not forgotten.
  [[nodiscard]] bool knows(const transport::PeerId& peer) const {
    return sessions_.find(peer) != nullptr;
  }
  // Answers an actor's Hello. `version`: of the weights that are here. Pre: the role is actor.
  void welcome(const transport::Incoming& from, const wire::Hello& hello, PolicyVersion version);
  // Answers somebody who is nobody here.
  void refuse_stranger(const transport::PeerId& peer);
  // Whether the message is kept: it has been taken, or will be when its graphs are there or there
  // is room. What has not the form of the run's experience is refused. `bytes`: of its frame. Pre:
  // knows(peer).
  bool receive(const transport::PeerId& peer, Message&& message, std::size_t bytes);
  // Whether decisions of the run are about that graph; who sends another one is refused.
  [[nodiscard]] bool expects(const transport::PeerId& peer, GraphHash graph);
  // Something new is there, graphs or room: takes what waited for it, and asks for the graphs that
  // are missing.
  void deliver();
  // A message that was taken no longer waits.
  void let_go(std::size_t bytes) { taken_bytes_ -= bytes; }
  // A message of so many decisions is dealt with: somebody may act for another.
  void give_back(const transport::PeerId& peer, std::uint64_t decisions);
  // The same of those that were dropped, once there is room again; whether there were any.
  bool give_back_dropped();

  // As those of Sessions.
  [[nodiscard]] std::vector<transport::PeerId> take_news() { return sessions_.take_news(); }
  void sent_weights(const transport::PeerId& peer, PolicyVersion version) {
    sessions_.sent_weights(peer, version);
  }
  void limit(std::uint64_t decisions) { sessions_.limit(decisions); }
  // Some ten times a second: takes unused grants back, and lets the window follow.
  void adapt(bool starved);
  // Now and then: forgets actors that should speak and are silent, and what they have waiting here:
  // those that have a grant, and those that are asked for a graph, grants or not. Who is asked for
  // a graph and says anything else is as good as silent: its decisions would take the room of
  // others' for ever.
  void forget_silent();
  // Brings the counters up to date that nobody's message changes.
  void count();

  // Pre: knows(peer).
  void say_credit(const transport::PeerId& peer) { send(peer, sessions_.credit(peer)); }
  void tell_actors(const wire::Message& message);
  void refuse(const transport::PeerId& peer, const wire::Refused& refused);
  // A peer that is gone or does not read loses the message; it asks or says Hello again. Why it
  // could not be sent, for callers who care.
  Result<void> send(const transport::PeerId& peer, const wire::Message& message);

  // Whether whoever says so is that actor, as far as keys tell (Sessions::theft).
  [[nodiscard]] bool may_be(const transport::Incoming& from, ActorId actor) const;

  [[nodiscard]] const Sessions& sessions() const { return sessions_; }
  [[nodiscard]] std::size_t waiting_for_graphs() const { return gate_.size(); }
  [[nodiscard]] ServerCounters counters() const;
  // What every server's status tells of its actors: members of a JSON object.
  [[nodiscard]] nlohmann::json status() const;

 private:
  struct Dropped {
    transport::PeerId peer;
    std::uint64_t decisions = 0;
  };

  [[nodiscard]] std::size_t waiting_bytes() const { return gate_.bytes() + taken_bytes_; }
  [[nodiscard]] Sessions::Holder holder_of(const transport::Incoming& from) const;
  // Of one actor.
  void deliver(const transport::PeerId& peer);
  void forget(const transport::PeerId& peer);
  // Of one that is gone.
  void drop_waiting(const transport::PeerId& peer);

  const Clock* clock_;
  Hooks hooks_;
  const std::size_t max_waiting_bytes_;
  transport::FrameServer* transport_ = nullptr;
  Sessions sessions_;
  GraphGate<Message> gate_;
  std::atomic<std::size_t> taken_bytes_{0};  // of what was taken and not let go
  std::vector<Dropped> dropped_;             // for want of room, and not given back

  mutable std::mutex mutex_;
  ServerCounters counters_;  // under mutex_
};

extern template class ActorDesk<wire::Experience>;
extern template class ActorDesk<wire::Insert>;

}  // namespace pacml::serving

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/experience/experience_form.h"
#include "common/serving/work_window.h"
#include "common/transport/channel.h"
#include "common/wire/messages.h"
#include "common/wire/sequence_tracker.h"

namespace pacml::serving {

// What one message of experience has room for: what is larger is cut off before it is read.
struct MessageRoom {
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();  // of all its unrolls together
  std::uint64_t beside = 0;  // that an unroll may take up besides its own

  // How many unrolls of that length, >= 1, fit.
  [[nodiscard]] std::uint64_t unrolls_of(std::uint64_t length) const {
    return steps / (length + beside);
  }
};

// What a run is, for welcoming peers.
struct RunIdentity {
  std::string run_id;  // empty: any run is welcome
  Seed run_seed;
  std::uint64_t config_hash = 0;  // of what must agree with peers
  std::string config_text;
  std::uint64_t max_policy_lag = 0;
  MessageRoom room{};     // at this server
  ExperienceForm form{};  // of what its actors send
};

struct SessionsConfig {
  std::string server = "learner";             // in sentences for the peer
  std::string option = "learner.max_actors";  // what `max_actors` is called there
  WorkWindowConfig work{};                    // how much may be on the way or in here
  std::size_t max_actors = 1;                 // further ones are turned away
  Duration silence = kForever;       // an actor that is not heard of for so long is forgotten
  std::size_t max_known = 1U << 17;  // actors, present or gone, whose last message is remembered
};

// A server's conversations with its actors (docs/protocol.md): who is welcome, who may act next and
// how much, and which messages are new. Decides what to answer; sends nothing itself.
// Thread-confined.
class Sessions {
 public:
  // Borrows the clock.
  Sessions(RunIdentity run, SessionsConfig config, const Clock& clock = steady());

  struct Actor {
    ActorId id;
    Incarnation incarnation;
    Sequence used;              // the last message accepted: numbers passed over used grants too
    std::uint64_t granted = 0;  // messages in all
    std::uint32_t unrolls = 1;  // that the last grant was of
    std::optional<PolicyVersion> weights{};  // that it was sent last
    TimePoint last_heard;
    bool has_news = false;        // is in news_
    std::uint64_t decisions = 0;  // in the messages accepted of this life
  };

  // Why a peer may not talk to this run at all; nullopt: it may. For every role.
  [[nodiscard]] std::optional<wire::Refused> objection(const wire::Hello& hello) const;
  // Whose key a peer has shown.
  struct Holder {
    std::string key_name;                           // empty: in the clear
    std::function<bool(const std::string&)> lists;  // whether a holder's key is still allowed
  };
  // Why the actor's number is not for this holder; nullopt: it may be.
  [[nodiscard]] std::optional<wire::Refused> theft(ActorId actor, const Holder& holder) const;
  // Welcomes an actor, replacing its former connections, or says why not. `replaced`: those
  // connections, whose messages that still wait for something are void. One whose messages would be
  // larger than this server reads is granted smaller ones. An actor's number belongs
  // to the holder of the key that it was first welcomed with, as long as one of theirs is allowed.
  // Pre: the role is actor.
  [[nodiscard]] std::optional<wire::Refused> admit(const transport::PeerId& peer,
                                                   const wire::Hello& hello,
                                                   std::vector<transport::PeerId>& replaced,
                                                   const Holder& holder = {});
  // Pre: find(peer).
  [[nodiscard]] wire::Welcome welcome(const transport::PeerId& peer, PolicyVersion version) const;

  // nullptr: not welcomed, or forgotten.
  [[nodiscard]] const Actor* find(const transport::PeerId& peer) const;
  void heard(const transport::PeerId& peer);

  enum class Verdict {
    kNew,      // to be taken, and given back when it is dealt with
    kDropped,  // seen before: counted, not answered
    kRefused,  // of another actor, or more than was granted
  };
  // `decisions`: in the message. Pre: find(peer).
  [[nodiscard]] Verdict accept(const transport::PeerId& peer, ActorId actor,
                               Incarnation incarnation, Sequence sequence, std::uint64_t decisions);
  // One of its messages is dealt with; it may have gone.
  void give_back(const transport::PeerId& peer, std::uint64_t decisions);
  // Messages of peers that have gone came to nothing.
  void drop(std::uint64_t decisions);
  // Pre: find(peer).
  [[nodiscard]] wire::Credit credit(const transport::PeerId& peer) const;
  // Who has been granted something since the last call, in the order of that.
  [[nodiscard]] std::vector<transport::PeerId> take_news();
  // It has been sent these weights. Nothing where it has gone.
  void sent_weights(const transport::PeerId& peer, PolicyVersion version);

  // Now and then: grants that were not used go to others; and the window follows what became of the
  // server (WorkWindow::adapt).
  void expire_grants();
  void adapt(bool starved);
  void limit(std::uint64_t decisions);
  [[nodiscard]] const WorkWindow& work() const { return window_; }

  void forget(const transport::PeerId& peer);
  [[nodiscard]] Duration silence() const { return config_.silence; }
  // Not heard of for so long as config.silence, or not here.
  [[nodiscard]] bool silent(const transport::PeerId& peer) const;
  // Forgets those that have a credit, which is their turn to speak, and have long said nothing.
  void forget_silent();

  [[nodiscard]] const std::map<transport::PeerId, Actor>& actors() const { return actors_; }
  [[nodiscard]] const RunIdentity& run() const { return run_; }
  [[nodiscard]] const wire::SequenceTracker& tracker() const { return tracker_; }
  // Goes on from a snapshot of what was accepted.
  void restore(const wire::SequenceTracker::State& accepted) { tracker_.restore(accepted); }

 private:
  // Why an actor's life is none that can be welcomed: it, or a newer one, was here before.
  [[nodiscard]] std::optional<wire::Refused> staleness(const transport::PeerId& peer,
                                                       const wire::Hello& hello) const;
  // Why what it would send would not be read here.
  [[nodiscard]] std::optional<wire::Refused> excess(const wire::Hello& hello) const;
  // Of actors that come, send and go under one number after the other, not all are remembered.
  void bound_memory();
  void hand_out();

  RunIdentity run_;
  SessionsConfig config_;
  const Clock* clock_;
  std::map<transport::PeerId, Actor> actors_;
  std::map<ActorId, transport::PeerId> connections_;  // of each actor, one: the keys of actors_
  std::map<ActorId, std::string> holders_;            // by the name of their key
  wire::SequenceTracker tracker_;
  WorkWindow window_;
  std::vector<transport::PeerId> news_;
};

}  // namespace pacml::serving

#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/clock.h"
#include "common/ids.h"

namespace pacml::serving {

// What a server wants to be in flight: granted and not yet come, or come and not yet consumed.
struct WorkWindowConfig {
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  // Decisions of all actors together. The window is `least` at first and again where that keeps the
  // server busy, and grows up to `most` where it does not and actors want more. 1 <= least <= most.
  std::uint64_t least = kUnlimited;
  std::uint64_t most = kUnlimited;
  std::uint64_t messages_per_actor = 2;  // in flight of one actor; >= 1
  std::uint64_t small = 1;  // decisions of a message that is not split further for more actors
  // Decisions that the server takes in at a time; 0: it takes what comes.
  std::uint64_t batch = 0;
  Duration patience = std::chrono::seconds(2);  // for a grant to be used, before others get it
};

// What one actor can do: messages of 1..most_unrolls unrolls of so many decisions each.
struct WorkUnit {
  std::uint64_t unroll = 1;        // >= 1
  std::uint64_t most_unrolls = 1;  // >= 1
};

// Leave to act once, and send what came of it as one message.
struct WorkGrant {
  ActorId actor;
  std::uint64_t unrolls = 1;
};

// Hands out work: who may act next, and how much of it. Arithmetic only; it sends nothing.
//
//   bounded     what is in flight never exceeds the window, but for one message that alone is
//               larger, and for messages that come when their grant had already been given to
//               others
//   fair        the actor that was served least comes next, in decisions; who joins begins where
//               the others are, who could take nothing for a while catches up by a window at most,
//               and who had much while there were few waits for the others by two messages at most
//   divided     messages are as large as all actors can have messages_per_actor of at once, but not
//               smaller than `small`, and then as much smaller as the fewest of them that make a
//               batch may be, so that a batch is what it is called with any number of actors; when
//               that is not enough, only so many actors have a grant at a time as the window has
//               room for, in turns
//   returned    when its actor leaves; when the server passes over the numbers of lost messages;
//               and after `patience`, whereupon an actor gets nothing more until it has spoken
//
// Thread-confined.
class WorkWindow {
 public:
  explicit WorkWindow(const WorkWindowConfig& config);

  // One that is here already begins anew.
  void join(ActorId actor, const WorkUnit& unit);
  // Its unused grants return. What has come of it stays in flight until it is consumed.
  void leave(ActorId actor);

  // The next grant, or nothing: nobody may have one, or the window is full.
  [[nodiscard]] std::optional<WorkGrant> grant(TimePoint now);
  // A message has come, and uses its actor's oldest grant; `passed_over` older ones came to
  // nothing.
  void arrived(ActorId actor, std::uint64_t passed_over, std::uint64_t decisions, TimePoint now);
  // ... and is dealt with, or came to nothing. nullopt: its actor has left since.
  void consumed(std::optional<ActorId> actor, std::uint64_t decisions);
  // Takes back grants that were not used within the patience, and forgets what was long ago. For
  // now and then, as adapt().
  void expire(TimePoint now);
  // What became of the server since it was last told: whether it had to wait for work. The window
  // follows. For now and then, some ten times a second.
  void adapt(bool starved);
  // From now on no more than so many, however large the window. For servers that are held up: where
  // that is why actors go without, the server does not count as waiting for work.
  void limit(std::uint64_t most) { limit_ = most; }

  [[nodiscard]] std::uint64_t window() const { return std::min(window_, limit_); }
  [[nodiscard]] bool is_bounded() const { return window() != WorkWindowConfig::kUnlimited; }
  // ... as a share of the largest that there may be.
  [[nodiscard]] double opened() const {
    return static_cast<double>(window()) / static_cast<double>(config_.most);
  }
  [[nodiscard]] std::uint64_t in_flight() const { return reserved_ + come_; }
  // Decisions that have come and are not consumed.
  [[nodiscard]] std::uint64_t come() const { return come_; }
  [[nodiscard]] std::size_t actors() const { return actors_.size(); }
  // Actors that have a grant to use.
  [[nodiscard]] std::size_t acting() const { return acting_; }
  // Whether the window is as large and messages are as small as they may be, and an actor had to go
  // without all the same when adapt() was last told that the server waits: more actors are no help.
  [[nodiscard]] bool at_its_end() const { return at_its_end_; }

 private:
  struct Actor {
    WorkUnit unit;
    std::uint64_t served = 0;           // decisions granted, in the common account
    std::deque<std::uint64_t> granted;  // decisions of each grant that is not used; oldest first
    std::uint64_t unconsumed = 0;       // messages
    bool overdue = false;               // its grants are taken back, though it may still use them
    TimePoint last_turn;                // when it spoke, or had its first unused grant
  };
  using Queue = std::set<std::pair<std::uint64_t, ActorId>>;  // by what they were served

  [[nodiscard]] bool wants(const Actor& actor) const {
    return !actor.overdue && actor.granted.size() + actor.unconsumed < config_.messages_per_actor;
  }
  [[nodiscard]] std::uint64_t unrolls_for(const Actor& actor) const;
  [[nodiscard]] bool has_room_for(std::uint64_t decisions) const {
    return in_flight() == 0 || (in_flight() < window() && decisions <= window() - in_flight());
  }
  // Changes an actor with its place in the queue, and what is counted of it.
  template <class Change>
  void change(ActorId id, Actor& actor, Change change);
  void take_back(Actor& actor, std::size_t grants);

  WorkWindowConfig config_;
  std::uint64_t window_;
  std::uint64_t limit_ = WorkWindowConfig::kUnlimited;
  std::uint64_t small_;         // below config_.small while the largest window is not enough
  std::uint64_t reserved_ = 0;  // decisions granted and not come
  std::uint64_t come_ = 0;      // decisions come and not consumed
  std::uint64_t account_ = 0;   // what the last one had been served when it was granted
  std::size_t acting_ = 0;
  bool split_ = false;      // since adapt() was last told, a message was less than its actor can do
  bool exhausted_ = false;  // ... or there was no room for one at all
  bool held_up_ = false;    // ... because of limit()
  bool at_its_end_ = false;
  std::map<ActorId, Actor> actors_;
  Queue queue_;  // of those that want work
};

}  // namespace pacml::serving

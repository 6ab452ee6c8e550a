#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/ids.h"

namespace pacml::wire {

// Makes "exactly once" of what a transport delivers: per (actor, incarnation), a sequence number is
// accepted once and in rising order. Thread-confined.
class SequenceTracker {
 public:
  enum class Verdict {
    kAccept,
    kDuplicate,  // this number, or a later one, was accepted before: drop it
    kStale,      // from an incarnation that a newer one has replaced: drop it
  };

  [[nodiscard]] Verdict accept(ActorId actor, Incarnation incarnation, Sequence sequence) {
    auto [entry, is_new] = last_.try_emplace(actor, Last{incarnation, Sequence{0}, 0});
    Last& last = entry->second;
    if (incarnation < last.incarnation) {
      ++stale_;
      return Verdict::kStale;
    }
    if (incarnation > last.incarnation) last = {incarnation, Sequence{0}, 0};
    if (sequence <= last.sequence) {
      ++duplicates_;
      return Verdict::kDuplicate;
    }
    gaps_ += sequence.get() - last.sequence.get() - 1;
    last.sequence = sequence;
    last.accepted_at = ++accepted_;
    return Verdict::kAccept;
  }

  // Sequence 0: nothing accepted from this life of the actor.
  [[nodiscard]] Sequence last_accepted(ActorId actor, Incarnation incarnation) const {
    const auto entry = last_.find(actor);
    return entry != last_.end() && entry->second.incarnation == incarnation ? entry->second.sequence
                                                                            : Sequence{0};
  }

  // The newest life of the actor that anything was accepted from; 0: none.
  [[nodiscard]] Incarnation newest(ActorId actor) const {
    const auto entry = last_.find(actor);
    return entry != last_.end() ? entry->second.incarnation : Incarnation{0};
  }

  // How many actors it knows.
  [[nodiscard]] std::size_t size() const { return last_.size(); }
  // Forgets, of the actors that may be forgotten, the half that was silent longest.
  template <class MayBeForgotten>
  void forget_half(MayBeForgotten may_be_forgotten) {
    std::vector<std::pair<std::uint64_t, ActorId>> old;
    for (const auto& [actor, last] : last_) {
      if (may_be_forgotten(actor)) old.emplace_back(last.accepted_at, actor);
    }
    std::ranges::sort(old);
    old.resize((old.size() + 1) / 2);
    for (const auto& [at, actor] : old) last_.erase(actor);
  }

  // Everything that it knows, for snapshots.
  struct Entry {
    ActorId actor;
    Incarnation incarnation;
    Sequence last;
    bool operator==(const Entry&) const = default;
  };
  struct State {
    std::vector<Entry> entries;  // by actor
    std::uint64_t accepted = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t stale = 0;
    std::uint64_t gaps = 0;
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] State state() const {
    State state{{}, accepted_, duplicates_, stale_, gaps_};
    for (const auto& [actor, last] : last_) {
      state.entries.push_back({actor, last.incarnation, last.sequence});
    }
    return state;
  }
  void restore(const State& state) {
    last_.clear();
    for (const Entry& e : state.entries) last_[e.actor] = {e.incarnation, e.last, 0};
    accepted_ = state.accepted;
    duplicates_ = state.duplicates;
    stale_ = state.stale;
    gaps_ = state.gaps;
  }

  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  [[nodiscard]] std::uint64_t duplicates() const { return duplicates_; }
  [[nodiscard]] std::uint64_t stale() const { return stale_; }
  // Numbers that were passed over: messages sent and never received.
  [[nodiscard]] std::uint64_t gaps() const { return gaps_; }

 private:
  struct Last {
    Incarnation incarnation;
    Sequence sequence;
    std::uint64_t accepted_at = 0;  // how many had been accepted by then
  };
  std::map<ActorId, Last> last_;
  std::uint64_t accepted_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t stale_ = 0;
  std::uint64_t gaps_ = 0;
};

}  // namespace pacml::wire

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/transport/channel.h"

namespace pacml::serving {

// Messages that name graphs, held back until every graph that they name is known; those of one peer
// leave in the order of their arrival. Bounded by what peers are granted. Thread-confined.
template <class Message>
class GraphGate {
 public:
  // `decisions`: in the message. `bytes`: what it takes.
  void push(const transport::PeerId& peer, Message&& message, std::vector<GraphHash> graphs,
            std::uint64_t decisions, std::size_t bytes) {
    waiting_[peer].held.push_back({std::move(message), std::move(graphs), decisions, bytes});
    ++size_;
    bytes_ += bytes;
  }

  // Calls deliver(Message&&, bytes) for each message of `peer` whose graphs are all known(hash),
  // oldest first, until one must wait; the graphs that this one lacks. It waits, too, where deliver
  // says false: there is no room, and the message was left untouched.
  template <class Known, class Deliver>
  [[nodiscard]] std::vector<GraphHash> release(const transport::PeerId& peer, TimePoint now,
                                               Known known, Deliver deliver) {
    const auto found = waiting_.find(peer);
    if (found == waiting_.end()) return {};
    auto& [queue, lacks_since] = found->second;
    while (!queue.empty()) {
      const std::size_t bytes = queue.front().bytes;
      std::set<GraphHash> missing;
      for (const GraphHash graph : queue.front().graphs) {
        if (!known(graph)) missing.insert(graph);
      }
      if (!missing.empty()) {
        if (!lacks_since) lacks_since = now;
        return {missing.begin(), missing.end()};
      }
      lacks_since.reset();
      if (!deliver(std::move(queue.front().message), bytes)) return {};
      queue.pop_front();
      --size_;
      bytes_ -= bytes;
    }
    waiting_.erase(found);
    return {};
  }

  // What comes to nothing when a peer is forgotten.
  struct Lost {
    std::uint64_t messages = 0;
    std::uint64_t decisions = 0;
  };
  [[nodiscard]] Lost forget(const transport::PeerId& peer) {
    const auto found = waiting_.find(peer);
    if (found == waiting_.end()) return {};
    const auto& queue = found->second.held;
    Lost lost{.messages = queue.size()};
    for (const Held& held : queue) {
      lost.decisions += held.decisions;
      bytes_ -= held.bytes;
    }
    size_ -= queue.size();
    waiting_.erase(found);
    return lost;
  }
  [[nodiscard]] std::vector<transport::PeerId> peers() const {
    std::vector<transport::PeerId> out;
    for (const auto& [peer, queue] : waiting_) out.push_back(peer);
    return out;
  }
  // Whether the oldest message of `peer` has lacked a graph since `then` or longer.
  [[nodiscard]] bool lacks_since(const transport::PeerId& peer, TimePoint then) const {
    const auto found = waiting_.find(peer);
    return found != waiting_.end() && found->second.lacks_since &&
           *found->second.lacks_since <= then;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Held {
    Message message;
    std::vector<GraphHash> graphs;
    std::uint64_t decisions = 0;
    std::size_t bytes = 0;
  };
  struct Queue {
    std::deque<Held> held;
    std::optional<TimePoint> lacks_since;  // of the first
  };
  std::map<transport::PeerId, Queue> waiting_;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace pacml::serving

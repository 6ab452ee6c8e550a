#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "common/transport/in_process.h"
#include "common/wire/codec.h"
#include "common/wire/messages.h"
#include "model/parameters.h"
#include "tests/support/catch.h"

namespace pacml::testing {

inline Deadline soon() { return Deadline::in(std::chrono::seconds(20)); }  // for what must come

// One server's end of the protocol, on a thread of its own, that does what a test says: it serves,
// is dead, turns peers away, stops, or is of another version of the protocol. Thread-safe.
class ScriptedServer {
 public:
  enum class Mood {
    kServes,
    kIsDead,          // takes everything, says nothing, and knows nobody when it is back
    kRefuses,         // for good
    kStops,           // in order
    kSpeaksOtherwise  // another version of the protocol
  };

  ScriptedServer() : router_(hub_.make_server()), publisher_(hub_.make_publisher()) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (const auto incoming = router_->receive(Deadline::in(kTick))) answer(*incoming);
      }
    });
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer() {
    thread_.request_stop();
    router_->wake();
  }

  [[nodiscard]] std::unique_ptr<transport::FrameClient> connect() { return hub_.connect(); }
  [[nodiscard]] std::unique_ptr<transport::FrameSubscriber> subscribe() { return hub_.subscribe(); }

  void become(Mood mood) {
    const std::scoped_lock lock(mutex_);
    mood_ = mood;
    if (mood == Mood::kIsDead) known_.clear();
  }
  // Another one in its place, at once: it remembers nobody, and its weights are `version`'s.
  void restart(std::uint64_t version = 0) {
    const std::scoped_lock lock(mutex_);
    known_.clear();
    weights_ = {};
    if (version != 0) weights_ = {PolicyVersion{version}, 9, {static_cast<float>(version)}};
  }
  void publish(std::uint64_t version) {
    const std::scoped_lock lock(mutex_);
    weights_ = {PolicyVersion{version}, 9, {static_cast<float>(version)}};
    static_cast<void>(
        publisher_->publish(wire::encode(wire::WeightsAnnouncement{PolicyVersion{version}, 1})));
  }
  // Gives back the credits of so many messages of a conversation, and keeps those of later ones.
  void allow(std::uint64_t messages) {
    const std::scoped_lock lock(mutex_);
    allowed_ = messages;
  }

  [[nodiscard]] std::vector<wire::Hello> hellos() const {
    const std::scoped_lock lock(mutex_);
    return hellos_;
  }
  [[nodiscard]] std::vector<wire::Insert> inserts() const {
    const std::scoped_lock lock(mutex_);
    return inserts_;
  }
  [[nodiscard]] std::vector<wire::Graph> graphs() const {
    const std::scoped_lock lock(mutex_);
    return graphs_;
  }
  [[nodiscard]] std::size_t pings() const { return pings_; }
  [[nodiscard]] std::size_t goodbyes() const { return goodbyes_; }

  // Asks whoever sent the last message for a graph.
  void ask_for(GraphHash graph) {
    const std::scoped_lock lock(mutex_);
    say(last_peer_, wire::NeedGraph{graph});
  }

 private:
  static constexpr std::chrono::milliseconds kTick{20};
  static constexpr std::uint64_t kCredits = 2;

  void say(const transport::PeerId& peer, const wire::Message& message) {
    static_cast<void>(router_->send(peer, wire::encode(message)));
  }

  void answer(const transport::Incoming& incoming) {
    const std::scoped_lock lock(mutex_);
    last_peer_ = incoming.peer;
    const auto message = wire::decode(incoming.frame);
    if (!message) return;
    if (const auto* hello = std::get_if<wire::Hello>(&*message)) hellos_.push_back(*hello);
    switch (mood_) {
      case Mood::kIsDead:
        return;
      case Mood::kRefuses:
        return say(incoming.peer, wire::Refused{wire::Refusal::kConfig, "not with me"});
      case Mood::kStops:
        return say(incoming.peer, wire::Refused{wire::Refusal::kStopping, "the server stops"});
      case Mood::kSpeaksOtherwise: {
        auto frame = wire::encode(wire::Refused{wire::Refusal::kMalformed, "what?"});
        const std::uint16_t version = 77;
        std::memcpy(frame.parts[0].data() + 4, &version, sizeof version);
        static_cast<void>(router_->send(incoming.peer, std::move(frame)));
        return;
      }
      case Mood::kServes:
        return serve(incoming.peer, *message);
    }
  }

  [[nodiscard]] wire::Credit credit() const {
    return {kCredits + std::min(accepted_.get(), allowed_), accepted_};
  }

  void serve(const transport::PeerId& peer, const wire::Message& message) {
    if (std::holds_alternative<wire::Hello>(message)) {
      known_.insert(peer);
      accepted_ = Sequence{0};
      const auto version = weights_.values.empty() ? PolicyVersion{0} : weights_.version;
      return say(peer, wire::Welcome{"run-1", Seed{42}, kCredits, version, 5});
    }
    if (!known_.contains(peer)) {
      return say(peer, wire::Refused{wire::Refusal::kUnknownPeer, "who are you?"});
    }
    if (const auto* insert = std::get_if<wire::Insert>(&message)) {
      inserts_.push_back(*insert);
      accepted_ = insert->sequence;
      say(peer, credit());
    } else if (const auto* ping = std::get_if<wire::Ping>(&message)) {
      ++pings_;
      say(peer, credit());
      say(peer, wire::Pong{ping->nonce});
    } else if (const auto* get = std::get_if<wire::GetWeights>(&message)) {
      if (weights_.values.empty()) return;
      if (get->have == weights_.version) {
        say(peer, wire::WeightsAnnouncement{weights_.version, 1});
      } else {
        say(peer, wire::Weights{weights_.version, weights_.layout_hash, weights_.values});
      }
    } else if (const auto* graph = std::get_if<wire::Graph>(&message)) {
      graphs_.push_back(*graph);
    } else if (std::holds_alternative<wire::Goodbye>(message)) {
      ++goodbyes_;
      known_.erase(peer);
    }
  }

  transport::InProcessHub hub_;
  std::unique_ptr<transport::FrameServer> router_;
  std::unique_ptr<transport::FramePublisher> publisher_;

  mutable std::mutex mutex_;  // of all that follows
  Mood mood_ = Mood::kServes;
  std::uint64_t allowed_ = std::numeric_limits<std::uint64_t>::max();
  std::set<transport::PeerId> known_;
  transport::PeerId last_peer_;
  Sequence accepted_;
  model::Parameters weights_;
  std::vector<wire::Hello> hellos_;
  std::vector<wire::Insert> inserts_;
  std::vector<wire::Graph> graphs_;
  std::atomic<std::size_t> pings_{0};
  std::atomic<std::size_t> goodbyes_{0};

  std::jthread thread_;
};

}  // namespace pacml::testing

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/clock.h"
#include "common/transport/in_process.h"
#include "common/wire/codec.h"
#include "common/wire/messages.h"
#include "model/parameters.h"
#include "tests/support/catch.h"

// Conversations on one thread, in a time of their own: a server answers while it is spoken to, and
// the clock moves only while somebody waits for what does not come. So nothing in here depends on
// how busy the machine is.

namespace pacml::testing {

// The time, and what a test wants to happen while somebody waits. Thread-confined.
class Stage {
 public:
  [[nodiscard]] const Clock& clock() const { return clock_; }
  // Does `act` as soon as it `holds` and everything before was done.
  void once(std::function<bool()> holds, std::function<void()> act) {
    steps_.push_back({std::move(holds), std::move(act)});
  }
  void after(Duration time, std::function<void()> act) {
    const TimePoint at = clock_.now() + time;
    once([this, at] { return clock_.now() >= at; }, std::move(act));
  }
  // A moment in which somebody waits.
  void pass() {
    clock_.advance(kTick);
    while (!steps_.empty() && steps_.front().holds()) {
      const Step step = std::move(steps_.front());
      steps_.pop_front();
      step.act();
    }
  }
  [[nodiscard]] bool over() const { return steps_.empty(); }

 private:
  static constexpr std::chrono::milliseconds kTick{10};
  struct Step {
    std::function<bool()> holds;
    std::function<void()> act;
  };
  ManualClock clock_;
  std::deque<Step> steps_;
};

// One server's end of the protocol that does what a test says: it serves, is dead, turns peers
// away, stops, or is of another version of the protocol. Thread-confined.
class ScriptedServer {
 public:
  enum class Mood {
    kServes,
    kIsSuspended,     // hears nothing now, and everything when it serves again
    kIsDead,          // takes everything, says nothing, and knows nobody when it is back
    kReadsNothing,    // its clients' queues are full: what they say goes nowhere
    kRefuses,         // for good
    kStops,           // in order
    kSpeaksOtherwise  // another version of the protocol
  };

  explicit ScriptedServer(Stage& stage) : stage_(&stage), publisher_(hub_.make_publisher()) {}
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer() = default;

  // The server outlives it.
  [[nodiscard]] std::unique_ptr<transport::FrameClient> connect() {
    return std::make_unique<Client>(*this, "client " + std::to_string(next_client_++));
  }
  [[nodiscard]] std::unique_ptr<transport::FrameSubscriber> subscribe() { return hub_.subscribe(); }

  void become(Mood mood) {
    mood_ = mood;
    if (mood == Mood::kIsDead) known_.clear();
    if (mood != Mood::kServes) return;
    for (const auto& [peer, frame] : std::exchange(unheard_, {})) answer(peer, frame);
  }
  // Another one in its place, at once: it remembers nobody, and its weights are `version`'s.
  void restart(std::uint64_t version = 0) {
    known_.clear();
    weights_ = {};
    if (version != 0) weights_ = {PolicyVersion{version}, 9, {static_cast<float>(version)}};
  }
  void publish(std::uint64_t version) {
    weights_ = {PolicyVersion{version}, 9, {static_cast<float>(version)}};
    announce(version);
  }
  // It goes on from older weights, and sends them to whoever sent the last message.
  void go_back(std::uint64_t version) {
    publish(version);
    say(last_peer_, wire::Weights{weights_.version, weights_.layout_hash, weights_.values});
  }
  // Says so to all, whatever weights there are.
  void announce(std::uint64_t version) {
    static_cast<void>(
        publisher_->publish(wire::encode(wire::WeightsAnnouncement{PolicyVersion{version}, 1})));
  }
  // Gives back the credits of so many messages of a conversation, and keeps those of later ones.
  void allow(std::uint64_t messages) { allowed_ = messages; }

  [[nodiscard]] const std::vector<wire::Hello>& hellos() const { return hellos_; }
  [[nodiscard]] const std::vector<wire::Insert>& inserts() const { return inserts_; }
  [[nodiscard]] const std::vector<wire::Graph>& graphs() const { return graphs_; }
  // Messages that have come while it was suspended, and wait.
  [[nodiscard]] std::size_t unheard() const { return unheard_.size(); }
  [[nodiscard]] std::size_t pings() const { return pings_; }
  [[nodiscard]] std::size_t asked_for_weights() const { return asked_for_weights_; }
  [[nodiscard]] std::size_t goodbyes() const { return goodbyes_; }

  // The next answers get lost on their way.
  void lose_answers(int answers) { to_lose_ = answers; }

  // Says what is no message to whoever sent the last one.
  void babble() { say_frame(last_peer_, wire::Frame{{Bytes(20)}}); }

  // Welcomes whoever sent the last message, as a former life of it with so many credits.
  void welcome_former(std::uint64_t credits) {
    say(last_peer_,
        wire::Welcome{"run-1", Seed{1}, credits, PolicyVersion{0}, 5, 1, Incarnation{1}});
  }

  // Asks whoever sent the last message for a graph.
  void ask_for(GraphHash graph) { say(last_peer_, wire::NeedGraph{graph}); }

 private:
  static constexpr std::uint64_t kCredits = 2;

  class Client final : public transport::FrameClient {
   public:
    Client(ScriptedServer& server, std::string name) : server_(&server), self_{std::move(name)} {
      server_->mail_[self_];
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client() override { server_->mail_.erase(self_); }
    Result<void> send(wire::Frame&& frame, Deadline deadline) override {
      if (server_->mood_ == Mood::kReadsNothing) {
        if (deadline != Deadline::now()) server_->stage_->pass();
        return fail(Errc::kTimeout, "the queue is full");
      }
      server_->answer(self_, std::exchange(frame, {}));
      return {};
    }
    Result<wire::Frame> receive(Deadline deadline) override {
      auto& mail = server_->mail_.at(self_);
      if (mail.empty() && deadline != Deadline::now()) server_->stage_->pass();
      if (mail.empty()) return fail(Errc::kTimeout, "nothing came");
      wire::Frame frame = std::move(mail.front());
      mail.pop_front();
      return frame;
    }
    void wake() override {}

   private:
    ScriptedServer* server_;
    transport::PeerId self_;
  };

  void say_frame(const transport::PeerId& peer, wire::Frame&& frame) {
    if (to_lose_ > 0) {
      --to_lose_;
      return;
    }
    if (const auto found = mail_.find(peer); found != mail_.end()) {
      found->second.push_back(std::move(frame));
    }
  }
  void say(const transport::PeerId& peer, const wire::Message& message) {
    say_frame(peer, wire::encode(message));
  }

  void answer(const transport::PeerId& peer, const wire::Frame& frame) {
    last_peer_ = peer;
    if (mood_ == Mood::kIsSuspended) {
      unheard_.emplace_back(peer, frame);
      return;
    }
    const auto message = wire::decode(frame);
    if (!message) return;
    if (const auto* hello = std::get_if<wire::Hello>(&*message)) hellos_.push_back(*hello);
    switch (mood_) {
      case Mood::kIsSuspended:
      case Mood::kIsDead:
      case Mood::kReadsNothing:
        return;
      case Mood::kRefuses:
        return say(peer, wire::Refused{wire::Refusal::kConfig, "not with me"});
      case Mood::kStops:
        return say(peer, wire::Refused{wire::Refusal::kStopping, "the server stops"});
      case Mood::kSpeaksOtherwise: {
        auto otherwise = wire::encode(wire::Refused{wire::Refusal::kMalformed, "what?"});
        const std::uint16_t version = 77;
        std::memcpy(otherwise.parts[0].data() + 4, &version, sizeof version);
        return say_frame(peer, std::move(otherwise));
      }
      case Mood::kServes:
        return serve(peer, *message);
    }
  }

  [[nodiscard]] wire::Credit credit() const {
    return {kCredits + std::min(accepted_.get(), allowed_), accepted_};
  }

  void serve(const transport::PeerId& peer, const wire::Message& message) {
    if (const auto* hello = std::get_if<wire::Hello>(&message)) {
      known_.insert(peer);
      accepted_ = Sequence{0};
      const auto version = weights_.values.empty() ? PolicyVersion{0} : weights_.version;
      return say(peer,
                 wire::Welcome{"run-1", Seed{42}, kCredits, version, 5, 1, hello->incarnation});
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
      ++asked_for_weights_;
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

  Stage* stage_;
  transport::InProcessHub hub_;  // of announcements
  std::unique_ptr<transport::FramePublisher> publisher_;
  std::map<transport::PeerId, std::deque<wire::Frame>> mail_;
  std::uint64_t next_client_ = 0;

  Mood mood_ = Mood::kServes;
  std::uint64_t allowed_ = std::numeric_limits<std::uint64_t>::max();
  std::set<transport::PeerId> known_;
  transport::PeerId last_peer_;
  Sequence accepted_;
  std::vector<std::pair<transport::PeerId, wire::Frame>> unheard_;
  model::Parameters weights_;
  std::vector<wire::Hello> hellos_;
  std::vector<wire::Insert> inserts_;
  std::vector<wire::Graph> graphs_;
  int to_lose_ = 0;
  std::size_t pings_ = 0;
  std::size_t asked_for_weights_ = 0;
  std::size_t goodbyes_ = 0;
};

}  // namespace pacml::testing

#include "common/serving/actor_desk.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "common/wire/codec.h"

namespace pacml::serving {
namespace {

// What a desk has to know of the messages that it takes.

std::uint64_t decisions_in(const wire::Experience& message) {
  return message.sequences.num_decisions();
}
std::uint64_t decisions_in(const wire::Insert& message) { return message.batch.priorities.size(); }

const Observations& observations_in(const wire::Experience& message) {
  return message.sequences.observations;
}
const Observations& observations_in(const wire::Insert& message) {
  return message.batch.transitions.observations;
}

std::string why_not_granted(const wire::Experience&) {
  return "experience of another actor, or more of it than was granted";
}
std::string why_not_granted(const wire::Insert&) {
  return "transitions of another actor, or more of them than were granted";
}

}  // namespace

template <class Message>
ActorDesk<Message>::ActorDesk(const RunIdentity& run, const SessionsConfig& config,
                              std::size_t max_waiting_bytes, Hooks hooks, const Clock& clock)
    : clock_(&clock),
      hooks_(std::move(hooks)),
      max_waiting_bytes_(max_waiting_bytes),
      sessions_(run, config, clock) {}

template <class Message>
void ActorDesk<Message>::restore(const wire::SequenceTracker::State& accepted) {
  sessions_.restore(accepted);
  count();
}

template <class Message>
std::optional<wire::Message> ActorDesk<Message>::hear(const transport::Incoming& incoming) {
  const transport::PeerId& peer = incoming.peer;
  if (incoming.revoked) {
    forget(peer);
    refuse(peer, {wire::Refusal::kConfig,
                  "the key of " + incoming.key_name + " is no longer allowed here"});
    return std::nullopt;
  }
  auto message = wire::decode(incoming.frame);
  if (!message) {
    {
      const std::scoped_lock lock(mutex_);
      ++counters_.malformed;
    }
    refuse(peer, {wire::Refusal::kMalformed, message.error().detail});
    return std::nullopt;
  }
  if (std::holds_alternative<wire::GetStatus>(*message)) {
    send(peer, wire::Status{hooks_.status()});
    return std::nullopt;
  }
  if (std::holds_alternative<wire::Hello>(*message) || !knows(peer)) return *std::move(message);
  sessions_.heard(peer);
  if (const auto* ping = std::get_if<wire::Ping>(&*message)) {
    // An actor that waits asks so: whatever it may have missed is said again.
    say_credit(peer);
    deliver(peer);
    send(peer, wire::Pong{ping->nonce});
    return std::nullopt;
  }
  if (std::holds_alternative<wire::Goodbye>(*message)) {
    forget(peer);
    return std::nullopt;
  }
  return *std::move(message);
}

template <class Message>
void ActorDesk<Message>::welcome(const transport::Incoming& from, const wire::Hello& hello,
                                 PolicyVersion version) {
  std::vector<transport::PeerId> replaced;
  const auto refused = sessions_.admit(from.peer, hello, replaced, holder_of(from));
  for (const auto& former : replaced) drop_waiting(former);
  if (!replaced.empty()) {
    spdlog::info("actor {} has come again, now from {} (process {}): its former connection is over",
                 hello.actor.get(), hello.host, hello.pid);
  }
  if (refused) return refuse(from.peer, *refused);
  count();
  send(from.peer, sessions_.welcome(from.peer, version));
}

template <class Message>
bool ActorDesk<Message>::may_be(const transport::Incoming& from, ActorId actor) const {
  return !sessions_.theft(actor, holder_of(from));
}

template <class Message>
Sessions::Holder ActorDesk<Message>::holder_of(const transport::Incoming& from) const {
  return {from.key_name, [this](const std::string& name) { return transport_->lists(name); }};
}

template <class Message>
void ActorDesk<Message>::refuse_stranger(const transport::PeerId& peer) {
  refuse(peer, {wire::Refusal::kUnknownPeer, "say Hello first"});
}

template <class Message>
bool ActorDesk<Message>::receive(const transport::PeerId& peer, Message&& message,
                                 std::size_t bytes) {
  if (auto known = is_of_form(observations_in(message), sessions_.run().form); !known) {
    refuse(peer, {wire::Refusal::kMalformed, known.error().detail});
    return false;
  }
  const std::uint64_t decisions = decisions_in(message);
  const auto verdict =
      sessions_.accept(peer, message.actor, message.incarnation, message.sequence, decisions);
  count();  // before anybody can see the message
  if (verdict == Sessions::Verdict::kRefused) {
    refuse(peer, {wire::Refusal::kMalformed, why_not_granted(message)});
    return false;
  }
  if (verdict == Sessions::Verdict::kDropped) return false;
  if (waiting_bytes() > 0 && waiting_bytes() + bytes > max_waiting_bytes_) {
    dropped_.push_back({peer, decisions});
    const std::scoped_lock lock(mutex_);
    ++counters_.no_room;
    return false;
  }
  auto graphs = observations_in(message).graphs();
  gate_.push(peer, std::move(message), std::move(graphs), decisions, bytes);
  deliver(peer);
  return true;
}

template <class Message>
bool ActorDesk<Message>::expects(const transport::PeerId& peer, GraphHash graph) {
  if (sessions_.run().form.has(graph)) return true;
  refuse(peer, {wire::Refusal::kMalformed, "a graph that no decision of this run is about"});
  return false;
}

template <class Message>
void ActorDesk<Message>::deliver() {
  for (const auto& peer : gate_.peers()) deliver(peer);
}

template <class Message>
void ActorDesk<Message>::deliver(const transport::PeerId& peer) {
  const auto missing = gate_.release(
      peer, clock_->now(), [this](GraphHash hash) { return hooks_.has_graph(hash); },
      [&](Message&& message, std::size_t bytes) {
        taken_bytes_ += bytes;  // before it can be let go
        if (hooks_.take(peer, std::move(message), bytes)) return true;
        taken_bytes_ -= bytes;
        return false;
      });
  for (const GraphHash hash : missing) send(peer, wire::NeedGraph{hash});
}

template <class Message>
void ActorDesk<Message>::give_back(const transport::PeerId& peer, std::uint64_t decisions) {
  sessions_.give_back(peer, decisions);
}

template <class Message>
bool ActorDesk<Message>::give_back_dropped() {
  if (dropped_.empty() || waiting_bytes() >= max_waiting_bytes_) return false;
  for (const auto& [peer, decisions] : std::exchange(dropped_, {})) give_back(peer, decisions);
  return true;
}

template <class Message>
void ActorDesk<Message>::adapt(bool starved) {
  sessions_.expire_grants();
  sessions_.adapt(starved);
}

template <class Message>
void ActorDesk<Message>::forget_silent() {
  sessions_.forget_silent();
  const TimePoint silent_since = clock_->now() - sessions_.silence();
  for (const auto& peer : gate_.peers()) {
    if (sessions_.silent(peer) || gate_.lacks_since(peer, silent_since)) forget(peer);
  }
  count();
}

template <class Message>
void ActorDesk<Message>::forget(const transport::PeerId& peer) {
  sessions_.forget(peer);
  drop_waiting(peer);
  count();
}

template <class Message>
void ActorDesk<Message>::drop_waiting(const transport::PeerId& peer) {
  const auto lost = gate_.forget(peer);
  sessions_.drop(lost.decisions);
  const std::scoped_lock lock(mutex_);
  counters_.no_room += lost.messages;
}

template <class Message>
void ActorDesk<Message>::tell_actors(const wire::Message& message) {
  for (const auto& [peer, actor] : sessions_.actors()) send(peer, message);
}

template <class Message>
void ActorDesk<Message>::refuse(const transport::PeerId& peer, const wire::Refused& refused) {
  if (refused.why != wire::Refusal::kUnknownPeer) {
    const std::scoped_lock lock(mutex_);
    ++counters_.refused;
  }
  send(peer, refused);
}

template <class Message>
Result<void> ActorDesk<Message>::send(const transport::PeerId& peer, const wire::Message& message) {
  return transport_->send(peer, wire::encode(message));
}

template <class Message>
void ActorDesk<Message>::count() {
  const auto& tracker = sessions_.tracker();
  const std::scoped_lock lock(mutex_);
  counters_.actors = sessions_.actors().size();
  counters_.accepted = tracker.accepted();
  counters_.duplicates = tracker.duplicates() + tracker.stale();
  counters_.gaps = tracker.gaps();
  if (transport_ != nullptr) counters_.denied = transport_->denied();
}

template <class Message>
ServerCounters ActorDesk<Message>::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

template <class Message>
nlohmann::json ActorDesk<Message>::status() const {
  const ServerCounters counted = counters();
  const auto& work = sessions_.work();
  return {{"run", sessions_.run().run_id},
          {"actors", counted.actors},
          {"messages", counted.accepted},
          {"duplicates", counted.duplicates},
          {"gaps", counted.gaps},
          {"malformed", counted.malformed},
          {"refused", counted.refused},
          {"no_room", counted.no_room},
          {"denied", counted.denied},
          {"window", work.is_bounded() ? nlohmann::json(work.window()) : nlohmann::json()},
          {"in_flight", work.in_flight()},
          {"bytes_waiting", waiting_bytes()}};
}

template class ActorDesk<wire::Experience>;
template class ActorDesk<wire::Insert>;

}  // namespace pacml::serving

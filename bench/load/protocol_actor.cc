#include "bench/load/protocol_actor.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/check.h"
#include "common/wire/codec.h"

namespace pacml::bench {
namespace {

// Between looks at a conversation in which nothing comes: what it has to say of its own accord is a
// Hello each half second, or a Ping each second.
constexpr std::chrono::milliseconds kTendEvery{500};

std::size_t decisions_in(const actor::ActorMessage& message) {
  if (const auto* sequences = std::get_if<Sequences>(&message)) return sequences->num_decisions();
  return std::get<PrioritizedTransitions>(message).priorities.size();
}

wire::Message numbered(actor::ActorMessage&& message, const actor::ServerLink::Stamp& stamp) {
  if (auto* sequences = std::get_if<Sequences>(&message)) {
    return wire::Experience{stamp.actor, stamp.incarnation, stamp.sequence, std::move(*sequences)};
  }
  return wire::Insert{stamp.actor, stamp.incarnation, stamp.sequence,
                      std::get<PrioritizedTransitions>(std::move(message))};
}

void set_version(Sequences& sequences, PolicyVersion version) {
  sequences.versions.clear();
  if (sequences.num_decisions() > 0) sequences.append_version(version, sequences.num_decisions());
}

void set_version(PrioritizedTransitions& batch, PolicyVersion version) {
  for (TransitionHead& head : batch.transitions.heads) head.policy_version = version;
}

// Weights are fetched between two messages, and never waited for.
actor::LinkConfig without_waiting() {
  actor::LinkConfig config;
  config.weights_patience = std::chrono::microseconds(0);
  return config;
}

}  // namespace

CannedExperience can(std::vector<std::vector<actor::ActorMessage>> sizes) {
  PACML_CHECK(!sizes.empty(), "a can has something in it");
  CannedExperience canned;
  double bytes = 0;
  for (const auto& message : sizes.back()) {
    canned.decisions_per_message += static_cast<double>(decisions_in(message));
    const auto frame =
        wire::encode(numbered(actor::ActorMessage(message), {ActorId{0}, {}, Sequence{1}}));
    for (const auto& part : frame.parts) bytes += static_cast<double>(part.size());
  }
  canned.bytes_per_decision = bytes / std::max(1.0, canned.decisions_per_message);
  canned.decisions_per_message /= static_cast<double>(sizes.back().size());
  canned.sizes = std::move(sizes);
  return canned;
}

CannedExperience can(std::vector<actor::ActorMessage> messages) {
  PACML_CHECK(!messages.empty(), "a can has something in it");
  std::vector<std::vector<actor::ActorMessage>> sizes;
  sizes.push_back(std::move(messages));
  return can(std::move(sizes));
}

ProtocolActor::ProtocolActor(const Connections& connections, const wire::Hello& hello,
                             std::span<const env::GraphFeaturesPtr> graphs,
                             const CannedExperience& canned, const Pace& pace,
                             Histogram& round_trips)
    : learner_(*connections.learner, {"learner", actor::ServerLink::WhenItStops::kEnd}, hello,
               graphs, without_waiting(), &weights_),
      weights_(learner_, *connections.announcements,
               connections.shard == nullptr ? actor::WeightsInbox::Supply::kWithWork
                                            : actor::WeightsInbox::Supply::kOnDemand,
               without_waiting()),
      canned_(&canned),
      pace_(pace),
      round_trips_(&round_trips),
      next_canned_(hello.actor.get()) {
  if (connections.shard == nullptr) return;
  shard_.emplace(
      *connections.shard,
      actor::ServerLink::Server{"replay shard", actor::ServerLink::WhenItStops::kWaitForAnother},
      hello, graphs, without_waiting(), nullptr);
}

Result<TimePoint> ProtocolActor::advance(TimePoint now) {
  if (auto tended = learner_.tend(); !tended) return tl::unexpected(tended.error());
  if (shard_) {
    if (auto tended = shard_->tend(); !tended) return tl::unexpected(tended.error());
  }
  count(now);
  if (joined() && !version_) take_weights();
  if (ready() && !silent_) {
    if (auto sent = act_and_send(now); !sent) return tl::unexpected(sent.error());
  }
  // Sending may have brought in what came meanwhile without anybody being told: who waits for the
  // sockets to be readable must leave nothing in them.
  if (auto drained = learner_.drain(); !drained) return tl::unexpected(drained.error());
  if (shard_) {
    if (auto drained = shard_->drain(); !drained) return tl::unexpected(drained.error());
  }
  count(now);
  const TimePoint tend_again = now + kTendEvery;
  if (silent_) return tend_again;
  if (acting_) return std::min(tend_again, acting_->until);
  return begins_ && may_act() ? std::min(tend_again, *begins_) : tend_again;
}

Result<void> ProtocolActor::act_and_send(TimePoint now) {
  if (!begins_) begins_ = now + pace_.first;
  while (true) {
    if (!acting_) {
      if (now < *begins_ || !may_act()) return {};
      take_weights();
      const auto& sizes = canned_->sizes;
      const auto& messages =
          sizes[std::clamp<std::size_t>(experience().progress().unrolls, 1, sizes.size()) - 1];
      const auto& message = messages[next_canned_++ % messages.size()];
      const auto decisions = static_cast<Duration::rep>(decisions_in(message));
      acting_ = Acting{now + pace_.per_decision * decisions, *version_, &message};
    }
    if (now < acting_->until) return {};
    const auto sent = experience().try_send(
        [this](const actor::ServerLink::Stamp& stamp) { return make(stamp); });
    if (!sent) return tl::unexpected(sent.error());
    if (!*sent) return {};
    ++tally_.sent;
    unaccepted_.push_back({now, decisions_in(*acting_->message)});
    acting_.reset();
  }
}

wire::Message ProtocolActor::make(const actor::ServerLink::Stamp& stamp) const {
  actor::ActorMessage message = *acting_->message;
  std::visit([this](auto& m) { set_version(m, acting_->version); }, message);
  return numbered(std::move(message), stamp);
}

void ProtocolActor::take_weights() {
  const auto newest = weights_.newest();
  if (!newest) return;
  version_ = newest->version;
  ++tally_.weights;
  tally_.weights_bytes += newest->values.size() * sizeof(float);
}

void ProtocolActor::count(TimePoint now) {
  const auto progress = experience().progress();
  if (experience().joins() != life_) {
    if (!experience().joined()) return;
    life_ = experience().joins();
    tally_.joins = life_;
    accepted_ = 0;
    unaccepted_.clear();
  }
  for (; accepted_ < progress.accepted && !unaccepted_.empty(); ++accepted_) {
    const Sent& sent = unaccepted_.front();
    ++tally_.accepted;
    tally_.decisions += sent.decisions;
    const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(now - sent.at);
    round_trips_->add(static_cast<std::uint64_t>(std::max<Duration::rep>(0, taken.count())));
    unaccepted_.pop_front();
  }
}

}  // namespace pacml::bench

#include "common/serving/sessions.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "common/config/diff.h"
#include "common/text.h"

namespace pacml::serving {
namespace {

// Microseconds, some 146,000 years after 1970. Above, incarnations may rise by one at a time only:
// so nobody can use up all numbers of an actor and shut it out.
constexpr Incarnation kGreatest{std::uint64_t{1} << 62};

}  // namespace

Sessions::Sessions(RunIdentity run, SessionsConfig config, const Clock& clock)
    : run_(std::move(run)), config_(std::move(config)), clock_(&clock), window_(config_.work) {}

std::optional<wire::Refused> Sessions::objection(const wire::Hello& hello) const {
  const std::string role(name_of(hello.role));
  if (hello.config_hash != run_.config_hash) {
    const auto differences = config_differences(run_.config_text, hello.config_text);
    return wire::Refused{wire::Refusal::kConfig,
                         "the " + role + "'s configuration differs from the " + config_.server +
                             "'s (here: " + config_.server + "): " + join(differences, "; ")};
  }
  if (!hello.run_id.empty() && !run_.run_id.empty() && hello.run_id != run_.run_id) {
    return wire::Refused{wire::Refusal::kRun, "the " + role + " belongs to run " + hello.run_id +
                                                  ", this is run " + run_.run_id};
  }
  return std::nullopt;
}

std::optional<wire::Refused> Sessions::staleness(const transport::PeerId& peer,
                                                 const wire::Hello& hello) const {
  Incarnation newest = tracker_.newest(hello.actor);
  // A life that has sent something has one connection: numbers would be taken for seen before.
  bool has_sent = tracker_.last_accepted(hello.actor, hello.incarnation).get() > 0;
  if (const auto present = connections_.find(hello.actor); present != connections_.end()) {
    const Incarnation incarnation = actors_.at(present->second).incarnation;
    newest = std::max(newest, incarnation);
    const bool repeated = present->second == peer && incarnation == hello.incarnation;
    has_sent = has_sent && !repeated;
  }
  if (hello.incarnation > kGreatest && hello.incarnation.get() > newest.get() + 1) {
    return wire::Refused{wire::Refusal::kMalformed, "no clock shows such an incarnation"};
  }
  if (hello.incarnation >= newest && !has_sent) return std::nullopt;
  return wire::Refused{wire::Refusal::kStale, "a newer incarnation of this actor is here", newest};
}

std::optional<wire::Refused> Sessions::theft(ActorId actor, const Holder& holder) const {
  const auto owner = holders_.find(actor);
  if (holder.key_name.empty() || owner == holders_.end() || owner->second == holder.key_name) {
    return std::nullopt;
  }
  if (holder.lists && !holder.lists(owner->second)) return std::nullopt;
  return wire::Refused{wire::Refusal::kConfig, "actor " + std::to_string(actor.get()) +
                                                   " belongs to the key of " + owner->second +
                                                   "; this is the key of " + holder.key_name};
}

std::optional<wire::Refused> Sessions::excess(const wire::Hello& hello) const {
  if (run_.room.unrolls_of(hello.unroll_length) >= 1) return std::nullopt;
  return wire::Refused{wire::Refusal::kConfig,
                       "an unroll of " + std::to_string(hello.unroll_length) +
                           " decisions is larger than the messages that the " + config_.server +
                           " reads: give actor.unroll_length or transport.max_part_bytes the same "
                           "value in both configurations"};
}

std::optional<wire::Refused> Sessions::admit(const transport::PeerId& peer,
                                             const wire::Hello& hello,
                                             std::vector<transport::PeerId>& replaced,
                                             const Holder& holder) {
  PACML_CHECK(hello.role == wire::Role::kActor, "sessions are with actors");
  if (auto refused = objection(hello)) return refused;
  if (auto refused = excess(hello)) return refused;
  if (auto refused = theft(hello.actor, holder)) return refused;
  if (auto refused = staleness(peer, hello)) return refused;
  if (const auto former = connections_.find(hello.actor);
      former != connections_.end() && former->second != peer) {
    replaced.push_back(former->second);
  }
  if (!actors_.contains(peer) && actors_.size() - replaced.size() >= config_.max_actors) {
    return wire::Refused{wire::Refusal::kConfig,
                         "the " + config_.server + " already has as many actors as " +
                             config_.option + " allows: " + std::to_string(config_.max_actors)};
  }
  for (const auto& former : replaced) forget(former);
  const auto [entry, is_new] = actors_.try_emplace(peer);
  Actor& actor = entry->second;
  if (is_new || actor.id != hello.actor || actor.incarnation != hello.incarnation) {
    if (!is_new) {
      replaced.push_back(peer);
      connections_.erase(actor.id);
      window_.leave(actor.id);
    }
    const Sequence used = tracker_.last_accepted(hello.actor, hello.incarnation);
    actor = Actor{hello.actor, hello.incarnation, used, used.get(), 1, std::nullopt, {}, false, 0};
    window_.join(actor.id, {hello.unroll_length,
                            std::min<std::uint64_t>(hello.most_unrolls,
                                                    run_.room.unrolls_of(hello.unroll_length))});
  }
  connections_[actor.id] = peer;
  if (!holder.key_name.empty()) holders_[actor.id] = holder.key_name;
  actor.last_heard = clock_->now();
  bound_memory();
  hand_out();
  return std::nullopt;
}

void Sessions::forget(const transport::PeerId& peer) {
  const auto found = actors_.find(peer);
  if (found == actors_.end()) return;
  connections_.erase(found->second.id);
  window_.leave(found->second.id);
  actors_.erase(found);
  hand_out();
}

wire::Welcome Sessions::welcome(const transport::PeerId& peer, PolicyVersion version) const {
  const Actor& actor = actors_.at(peer);
  return {run_.run_id,         run_.run_seed, actor.granted,    version,
          run_.max_policy_lag, actor.unrolls, actor.incarnation};
}

void Sessions::hand_out() {
  while (const auto grant = window_.grant(clock_->now())) {
    const transport::PeerId& peer = connections_.at(grant->actor);
    Actor& actor = actors_.at(peer);
    ++actor.granted;
    actor.unrolls = static_cast<std::uint32_t>(grant->unrolls);
    if (!std::exchange(actor.has_news, true)) news_.push_back(peer);
  }
}

std::vector<transport::PeerId> Sessions::take_news() {
  std::erase_if(news_, [this](const transport::PeerId& peer) {
    const auto found = actors_.find(peer);
    return found == actors_.end() || !std::exchange(found->second.has_news, false);
  });
  return std::exchange(news_, {});
}

void Sessions::sent_weights(const transport::PeerId& peer, PolicyVersion version) {
  if (const auto found = actors_.find(peer); found != actors_.end()) {
    found->second.weights = version;
  }
}

void Sessions::expire_grants() {
  window_.expire(clock_->now());
  hand_out();
}

void Sessions::limit(std::uint64_t decisions) {
  window_.limit(decisions);
  hand_out();
}

void Sessions::adapt(bool starved) {
  window_.adapt(starved);
  hand_out();
}

const Sessions::Actor* Sessions::find(const transport::PeerId& peer) const {
  const auto found = actors_.find(peer);
  return found == actors_.end() ? nullptr : &found->second;
}

void Sessions::heard(const transport::PeerId& peer) {
  if (const auto found = actors_.find(peer); found != actors_.end()) {
    found->second.last_heard = clock_->now();
  }
}

Sessions::Verdict Sessions::accept(const transport::PeerId& peer, ActorId actor_id,
                                   Incarnation incarnation, Sequence sequence,
                                   std::uint64_t decisions) {
  Actor& actor = actors_.at(peer);
  if (actor_id != actor.id || incarnation != actor.incarnation || sequence.get() > actor.granted) {
    return Verdict::kRefused;
  }
  const auto verdict = tracker_.accept(actor_id, incarnation, sequence);
  bound_memory();
  if (verdict != wire::SequenceTracker::Verdict::kAccept) return Verdict::kDropped;
  window_.arrived(actor_id, sequence.get() - actor.used.get() - 1, decisions, clock_->now());
  actor.used = sequence;
  actor.decisions += decisions;
  return Verdict::kNew;
}

void Sessions::bound_memory() {
  if (holders_.size() > std::max(config_.max_known, 2 * actors_.size())) {
    std::erase_if(holders_,
                  [this](const auto& entry) { return !connections_.contains(entry.first); });
  }
  if (tracker_.size() <= std::max(config_.max_known, actors_.size())) return;
  tracker_.forget_half([this](ActorId actor) { return !connections_.contains(actor); });
}

void Sessions::give_back(const transport::PeerId& peer, std::uint64_t decisions) {
  const Actor* const actor = find(peer);
  window_.consumed(actor == nullptr ? std::nullopt : std::optional(actor->id), decisions);
  hand_out();
}

void Sessions::drop(std::uint64_t decisions) {
  if (decisions == 0) return;
  window_.consumed(std::nullopt, decisions);
  hand_out();
}

wire::Credit Sessions::credit(const transport::PeerId& peer) const {
  const Actor& actor = actors_.at(peer);
  return {actor.granted, actor.used, actor.unrolls};
}

bool Sessions::silent(const transport::PeerId& peer) const {
  const Actor* const actor = find(peer);
  return actor == nullptr || clock_->now() - actor->last_heard > config_.silence;
}

void Sessions::forget_silent() {
  // An actor that may not act says nothing: only one that has a grant is expected to speak.
  std::vector<transport::PeerId> gone;
  for (const auto& [peer, actor] : actors_) {
    if (actor.used.get() < actor.granted && silent(peer)) gone.push_back(peer);
  }
  for (const auto& peer : gone) forget(peer);
}

}  // namespace pacml::serving

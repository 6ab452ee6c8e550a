#include "apps/roles/actor_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/heartbeat.h"
#include "common/json_text.h"

namespace pacml::apps {

ActorStatus::ActorStatus(ActorId id, std::string run) : id_(id), run_(std::move(run)) {}

// Beats come before the lock in all of these: the thread's chore may have something to tell, too.

void ActorStatus::heard(const actor::LinkReport& link) {
  beat();
  const std::scoped_lock lock(mutex_);
  links_[std::string(link.server)] = {link.joined, link.joins, link.unacknowledged, link.malformed};
}

void ActorStatus::has_weights(PolicyVersion version) {
  beat();
  const std::scoped_lock lock(mutex_);
  version_ = version;
  acts_ = true;
  waits_ = false;
}

void ActorStatus::waits(const ActorProgress& progress) {
  beat();
  const std::scoped_lock lock(mutex_);
  progress_ = progress;
  waits_ = true;
}

void ActorStatus::acts() {
  beat();
  const std::scoped_lock lock(mutex_);
  waits_ = false;
}

void ActorStatus::has_sent() {
  beat();
  const std::scoped_lock lock(mutex_);
  ++messages_;
}

RoleReport ActorStatus::report() const {
  const std::scoped_lock lock(mutex_);
  const bool joined = !links_.empty() && std::ranges::all_of(links_, [](const auto& entry) {
    return entry.second.joined;
  });
  const auto link = [this](const char* server) {
    const auto it = links_.find(server);
    return it != links_.end() ? it->second : Link{};
  };
  nlohmann::json status = {{"role", "actor"},
                           {"actor", id_.get()},
                           {"run", run_},
                           {"state", !acts_   ? "joining"
                                     : waits_ ? "waiting"
                                              : "acting"},
                           {"joined", joined},
                           {"joins", link("learner").joins},
                           {"decisions", progress_.decisions},
                           {"refused_weights", progress_.refused_weights},
                           {"messages", messages_},
                           {"policy_version", version_.get()}};
  std::uint64_t unacknowledged = 0;
  std::uint64_t malformed = 0;
  for (const auto& [name, conversation] : links_) {
    unacknowledged += conversation.unacknowledged;
    malformed += conversation.malformed;
  }
  status["unacknowledged"] = unacknowledged;
  status["malformed"] = malformed;
  if (links_.contains("replay shard")) status["shard_joins"] = link("replay shard").joins;
  return {json_text(status), joined && acts_, {}};
}

Result<actor::Work> ReportedSink::next_work(std::stop_token stop) {
  status_->waits(progress_());
  auto work = inner_->next_work(std::move(stop));
  if (work) status_->acts();
  return work;
}

Result<void> ReportedSink::tend() { return inner_->tend(); }

Result<void> ReportedSink::send(actor::ActorMessage&& message, std::stop_token stop) {
  auto sent = inner_->send(std::move(message), std::move(stop));
  if (sent) status_->has_sent();
  return sent;
}

std::optional<model::Parameters> ReportedSink::newest_parameters() {
  auto newest = inner_->newest_parameters();
  if (newest) status_->has_weights(newest->version);
  return newest;
}

Result<model::Parameters> ReportedSink::first_parameters(std::stop_token stop) {
  auto first = inner_->first_parameters(std::move(stop));
  if (first) status_->has_weights(first->version);
  return first;
}

}  // namespace pacml::apps

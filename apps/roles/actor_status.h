#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "actor/experience_sink.h"
#include "actor/server_link.h"
#include "apps/http/role_report.h"
#include "common/clock.h"
#include "common/ids.h"

namespace pacml::apps {

// What an actor has done for the run that it is in.
struct ActorProgress {
  std::int64_t decisions = 0;
  std::int64_t refused_weights = 0;
};

// What an actor says of itself: told by its thread between messages and while it waits, which is
// that thread's heartbeat, too; asked by any. Thread-safe.
class ActorStatus {
 public:
  ActorStatus(ActorId id, std::string run);

  // A conversation's state; for actor::LinkConfig::report.
  void heard(const actor::LinkReport& link);
  void has_weights(PolicyVersion version);
  // For leave to act; and has it.
  void waits(const ActorProgress& progress);
  void acts();
  void has_sent();

  // Ready: joined, and acting with weights.
  [[nodiscard]] RoleReport report() const;

 private:
  struct Link {
    bool joined = false;
    std::uint64_t joins = 0;
    std::uint64_t unacknowledged = 0;
    std::uint64_t malformed = 0;
  };

  const ActorId id_;
  const std::string run_;
  mutable std::mutex mutex_;
  std::map<std::string, Link> links_;  // under mutex_, as all below
  bool waits_ = true;
  bool acts_ = false;  // has ever had weights
  PolicyVersion version_;
  ActorProgress progress_;
  std::int64_t messages_ = 0;
};

// A sink that tells a status what passes through it. Thread-confined to the actor.
class ReportedSink final : public actor::ExperienceSink {
 public:
  // Borrows both.
  ReportedSink(actor::ExperienceSink& inner, std::function<ActorProgress()> progress,
               ActorStatus& status)
      : inner_(&inner), progress_(std::move(progress)), status_(&status) {}

  [[nodiscard]] Result<actor::Work> next_work(std::stop_token stop) override;
  [[nodiscard]] Result<void> tend() override;
  [[nodiscard]] Result<void> send(actor::ActorMessage&& message, std::stop_token stop) override;
  [[nodiscard]] std::optional<model::Parameters> newest_parameters() override;
  [[nodiscard]] Result<model::Parameters> first_parameters(std::stop_token stop) override;

 private:
  actor::ExperienceSink* inner_;
  std::function<ActorProgress()> progress_;
  ActorStatus* status_;
};

}  // namespace pacml::apps

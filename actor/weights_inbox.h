#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "actor/server_link.h"
#include "common/clock.h"
#include "common/transport/channel.h"
#include "model/parameters.h"

namespace pacml::actor {

// The learner's newest weights: takes those that come with leave to act, hears what is announced,
// asks for it over a link where it is newer by more than need be (wire::refresh_lag; where weights
// come with leave to act, wire::overdue_lag), and keeps what came until the actor takes it. A
// learner may be at an older version than before: one that resumed, whose weights joining it anew
// makes the newest, and one that goes on from another's checkpoint, which sends its own.
// Thread-confined.
class WeightsInbox final : public ServerLink::Listener {
 public:
  // Whether the learner is who gives leave to act.
  enum class Supply { kWithWork, kOnDemand };
  // Borrows them and the clock; `learner` is the link that this listens to.
  WeightsInbox(ServerLink& learner, transport::FrameSubscriber& announcements, Supply supply,
               const LinkConfig& config, const Clock& clock = steady());

  // What arrived since the last call, if anything did. Waits for weights that are on the way, no
  // longer than LinkConfig::weights_patience.
  [[nodiscard]] std::optional<model::Parameters> newest();
  // Joins the learner and waits for its weights. Errors as the link's.
  [[nodiscard]] Result<model::Parameters> first(std::stop_token stop);

  void joined(const wire::Welcome& welcome) override;
  void received(wire::Message&& message) override;

 private:
  void hear_announcements();
  void request();
  [[nodiscard]] std::optional<model::Parameters> take();

  ServerLink* learner_;
  transport::FrameSubscriber* announcements_;
  Supply supply_;
  Duration ask_again_;
  Duration patience_;
  Duration lost_after_;
  const Clock* clock_;

  PolicyVersion have_;  // handed to the actor
  PolicyVersion announced_;
  std::uint64_t refresh_lag_ = 1;            // versions
  bool requested_ = false;                   // and not yet answered
  TimePoint asked_at_;                       // last
  TimePoint heard_at_;                       // of any weights, last
  std::optional<model::Parameters> newest_;  // received, not yet handed over
};

}  // namespace pacml::actor

#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/transport/channel.h"

namespace pacml::serving {

// A server's end in order, told to every peer until each has confirmed that it heard, or for a
// bounded time (docs/protocol.md, "Leaving"). Decides whom to tell and when it is over; sends
// nothing itself. Thread-confined.
class Farewell {
 public:
  // Between two tellings of one peer.
  static constexpr std::chrono::milliseconds kAgain{200};
  // A peer whose connection has gone has probably heard, and ended. One that has not comes back on
  // another connection: for so long it is waited for.
  static constexpr std::chrono::milliseconds kMayComeBack{1'500};

  // `present`: who is to be told. Borrows the clock.
  Farewell(const std::map<ActorId, transport::PeerId>& present, Duration patience,
           const Clock& clock = steady());

  // Whom to tell now. Counts them as told.
  [[nodiscard]] std::vector<transport::PeerId> due();
  // It has heard.
  void confirmed(const transport::PeerId& peer);
  // It could not be told, for its connection has gone.
  void gone(const transport::PeerId& peer);
  // It has come again, on this connection. False: nobody waits for its confirmation.
  [[nodiscard]] bool came_back(ActorId actor, const transport::PeerId& peer);

  [[nodiscard]] bool over() const;
  // How many have neither confirmed nor gone.
  [[nodiscard]] std::size_t unconfirmed() const;

 private:
  struct Peer {
    transport::PeerId connection;
    TimePoint next;  // to be told
    bool gone = false;
    TimePoint gone_since{};
  };
  [[nodiscard]] bool is_dealt_with(const Peer& peer) const {
    return peer.gone && clock_->now() - peer.gone_since >= kMayComeBack;
  }

  const Clock* clock_;
  TimePoint until_;
  std::map<ActorId, Peer> peers_;  // that have not confirmed
};

}  // namespace pacml::serving

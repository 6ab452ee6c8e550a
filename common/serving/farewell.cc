#include "common/serving/farewell.h"

#include <algorithm>

namespace pacml::serving {

Farewell::Farewell(const std::map<ActorId, transport::PeerId>& present, Duration patience,
                   const Clock& clock)
    : clock_(&clock), until_(clock.now() + patience) {
  for (const auto& [actor, connection] : present) {
    peers_[actor] = {connection, clock.now()};
  }
}

std::vector<transport::PeerId> Farewell::due() {
  std::vector<transport::PeerId> out;
  for (auto& [actor, peer] : peers_) {
    if (peer.gone || clock_->now() < peer.next) continue;
    out.push_back(peer.connection);
    peer.next = clock_->now() + kAgain;
  }
  return out;
}

void Farewell::confirmed(const transport::PeerId& connection) {
  std::erase_if(peers_, [&](const auto& entry) { return entry.second.connection == connection; });
}

void Farewell::gone(const transport::PeerId& connection) {
  for (auto& [actor, peer] : peers_) {
    if (peer.connection != connection || peer.gone) continue;
    peer.gone = true;
    peer.gone_since = clock_->now();
  }
}

bool Farewell::came_back(ActorId actor, const transport::PeerId& connection) {
  const auto found = peers_.find(actor);
  if (found == peers_.end()) return false;
  found->second = {connection, clock_->now()};
  return true;
}

bool Farewell::over() const {
  return clock_->now() >= until_ || std::ranges::all_of(peers_, [this](const auto& entry) {
           return is_dealt_with(entry.second);
         });
}

std::size_t Farewell::unconfirmed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(peers_, [](const auto& entry) { return !entry.second.gone; }));
}

}  // namespace pacml::serving

#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "learner/replicas/board.h"
#include "learner/replicas/gloo_group.h"
#include "tests/support/threaded_group.h"

namespace pacml::learner {

// Members of one group over Gloo, each on a thread of its own: body(group) with each.
inline void with_gloo(std::size_t size, const std::function<void(ReplicaGroup&)>& body,
                      std::chrono::milliseconds patience = std::chrono::hours(1)) {
  std::signal(SIGPIPE,
              SIG_IGN);  // Gloo writes to members that have gone; processes of a run ignore it, too
  LocalBoard board;
  on_threads(size, [&](std::size_t rank) {
    Team team{"call", {}, rank};
    for (std::uint32_t k = 0; k < size; ++k) team.replicas.push_back(k);
    const GlooConfig config{.connecting = std::chrono::hours(1), .patience = patience};
    const auto group = connect_gloo(team, board, config);
    if (!group) throw std::runtime_error(group.error().detail);
    body(**group);
  });
}

}  // namespace pacml::learner

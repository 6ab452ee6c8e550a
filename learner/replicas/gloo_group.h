#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/result.h"
#include "learner/replicas/membership.h"
#include "learner/replicas/replica_group.h"

namespace pacml::learner {

struct GlooConfig {
  // Where the other replicas reach this one. Gloo listens there, at a port that the system chooses;
  // it neither encrypts nor authenticates.
  std::string host = "127.0.0.1";
  std::chrono::milliseconds connecting{5'000};  // until all members are connected
  std::chrono::milliseconds patience{10'000};   // for the slowest member, in each call
};

// The team's group over Gloo, out of LibTorch: rings of TCP connections. Addresses are exchanged on
// the board, under the team's call. A member that dies ends its neighbours' calls in milliseconds;
// one that hangs, after `patience`. kTimeout, kDisconnected: not all members came. UserError: the
// host is not one of this machine's addresses.
[[nodiscard]] Result<std::unique_ptr<ReplicaGroup>> connect_gloo(const Team& team, Board& board,
                                                                 const GlooConfig& config);

}  // namespace pacml::learner

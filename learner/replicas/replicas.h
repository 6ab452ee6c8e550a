#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "learner/replicas/membership.h"
#include "learner/replicas/replica_group.h"

namespace pacml::learner {

// Makes a team's group, whose members find one another on the board. kTimeout, kDisconnected: it
// did not come about.
using ConnectTeam =
    std::function<Result<std::unique_ptr<ReplicaGroup>>(const Team& team, Board& board)>;

// The group that a replica is in now, while groups come and go: one that has failed is left at
// once, which tells its other members, and regroup() enters the next one. Between the two, and
// before the first, every call fails. Thread-confined to the learner thread.
class Replicas final : public ReplicaGroup {
 public:
  // Borrows the membership.
  Replicas(Membership& membership, ConnectTeam connect)
      : membership_(&membership), connect_(std::move(connect)) {}

  [[nodiscard]] bool leads() const { return membership_->leads(); }
  // The leader's: somebody waits to be taken in.
  [[nodiscard]] bool awaited() { return membership_->awaited(); }
  // Leaves the group, and waits for the next one. kStopped. UserError: as Membership's.
  [[nodiscard]] Result<void> regroup(const std::stop_token& stop);
  // The leader's last word to those who wait.
  void end_run() { membership_->end_run(); }

  // Of no group: as if there were others, so that nobody goes on alone.
  [[nodiscard]] std::size_t size() const override { return group_ ? group_->size() : 2; }
  [[nodiscard]] std::size_t rank() const override { return group_ ? group_->rank() : 0; }
  Result<void> gather(std::span<const double> mine, std::vector<double>& all) override;
  Result<void> sum(std::span<float> values) override;
  Result<void> broadcast(std::string& bytes) override;

 private:
  // Leaves the group where `outcome` says that it has failed.
  Result<void> checked(Result<void> outcome);

  Membership* membership_;
  ConnectTeam connect_;
  std::unique_ptr<ReplicaGroup> connected_;
  ReplicaGroup* group_ = nullptr;  // connected_, or nobody but us
};

}  // namespace pacml::learner

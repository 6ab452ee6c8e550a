#include "learner/replicas/replicas.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace pacml::learner {

Result<void> Replicas::regroup(const std::stop_token& stop) {
  for (;;) {
    group_ = nullptr;
    connected_.reset();
    const auto team = membership_->assemble(stop);
    if (!team) return tl::unexpected(team.error());
    if (team->size() == 1) {
      group_ = &alone();
      spdlog::warn("learning without other replicas");
      return {};
    }
    auto group = connect_(*team, membership_->board());
    membership_->came_about(group.has_value());
    if (group) {
      connected_ = *std::move(group);
      group_ = connected_.get();
      spdlog::info("{} replicas learn together, this one as number {}", team->size(), team->rank);
      return {};
    }
    spdlog::warn("the replicas could not connect: {}", group.error().detail);
    if (stop.stop_requested()) return fail(Errc::kStopped);
  }
}

Result<void> Replicas::checked(Result<void> outcome) {
  if (outcome) return outcome;
  group_ = nullptr;
  connected_.reset();
  return outcome;
}

Result<void> Replicas::gather(std::span<const double> mine, std::vector<double>& all) {
  return group_ ? checked(group_->gather(mine, all)) : fail(Errc::kDisconnected, "in no group");
}

Result<void> Replicas::sum(std::span<float> values) {
  return group_ ? checked(group_->sum(values)) : fail(Errc::kDisconnected, "in no group");
}

Result<void> Replicas::broadcast(std::string& bytes) {
  return group_ ? checked(group_->broadcast(bytes)) : fail(Errc::kDisconnected, "in no group");
}

}  // namespace pacml::learner

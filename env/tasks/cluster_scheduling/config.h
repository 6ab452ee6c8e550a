#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/tasks/gpu_scheduling/config.h"

namespace pacml::env {

// The cluster scheduling task (after Zhao & Wu, arXiv:2112.13354): several schedulers, each with a
// part of a GPU cluster, decide which of their jobs runs where, and beside whom.
struct ClusterSchedulingConfig : GpuWorkloadConfig {
  ClusterSchedulingConfig() { cluster.partitions = 2; }
  OffersConfig offers = {};  // jobs are in line by remaining time
  SchedulingReward reward = SchedulingReward::kDelay;
  double own_share = 1;  // of a scheduler's reward that is for its own jobs; the rest is for all
  Handover handover = Handover::kPriced;
  bool messages = true;  // schedulers tell each other what is idle and what waits there
  bool operator==(const ClusterSchedulingConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ClusterSchedulingConfig>
void visit_fields(Config& c, Visitor&& v) {
  visit_workload(c, v);
  v("offers", c.offers);
  v("reward", c.reward);
  v("own_share", c.own_share);
  v("handover", c.handover);
  v("messages", c.messages);
}
[[nodiscard]] std::vector<std::string> validate(const ClusterSchedulingConfig& c);

// Pre: validate() finds no problem.
[[nodiscard]] ObservationSpec observation_spec(const ClusterSchedulingConfig& c);

}  // namespace pacml::env

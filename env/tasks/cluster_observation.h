#pragma once

#include <memory>
#include <span>
#include <vector>

#include "env/candidate_view.h"
#include "env/cluster/cluster.h"
#include "env/cluster/execution_memo.h"

// `observation: cluster` of the partitioning task. What travels of a decision is how long each
// server will be busy, how much time is left, and the job's limit. What a network reads is a row
// for each candidate: refusing, and every degree at which the job would be placed, would meet its
// limit and would end in time. A row describes the cluster that the candidate leaves behind, at the
// time when the next job is expected. Times are in slots: mean times between arrivals. So nothing
// of the arrivals to come is given away.
namespace pacml::env {

// What both sides need to know of the task.
struct ClusterObservationSetting {
  std::vector<JobGraphPtr> graphs;
  // Of the job graphs' features, in the same order.
  std::vector<GraphHash> hashes;
  ExecutionMemo::Setting memo;
  int num_training_steps = 50;
  double slot = 1000;  // simulated time; the mean time between arrivals
};

// The globals that travel: a server's time until it is free [servers], the time left of the
// episode, and the job's limit as a fraction of its sequential time.
[[nodiscard]] std::vector<FeatureSpec> cluster_globals(std::array<int, 3> topology);

// Writes them. `out` [servers + 2].  Pre: a job waits in `cluster` (PACML_CHECK).
void write_cluster_globals(const Cluster& cluster, double slot, std::span<float> out);

// Which candidates there are. `allowed` [degrees + 1]: 1 where the action is allowed at all; of
// several degrees with the same outcome the first one counts. Pre: a job waits (PACML_CHECK).
void write_cluster_mask(const Cluster& cluster, std::span<const std::uint8_t> allowed,
                        std::span<std::uint8_t> mask);

// What networks read of them.
[[nodiscard]] CandidateViewPtr make_cluster_view(ClusterObservationSetting setting);

}  // namespace pacml::env

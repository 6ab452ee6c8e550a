#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "env/candidate_view.h"
#include "env/cluster/cluster.h"
#include "env/cluster/execution_memo.h"

// How the RAMP cluster is shown to a policy. What travels of a decision is how long each server
// will be busy, how much time is left, and the job's limit. What a network reads is a row for each
// candidate, that describes the cluster which the candidate leaves behind, at the time when the
// next job is expected. Times are in slots: mean times between arrivals. So nothing of the arrivals
// to come is given away.
namespace pacml::env {

// Of a cluster that is shown server by server: blocks of servers grow with them.
inline constexpr int kMostServersShown = 1024;

// The globals that travel: a server's time until it is free [servers], the time left of the
// episode, and the job's limit as a fraction of its sequential time.
[[nodiscard]] std::vector<FeatureSpec> cluster_globals(std::array<int, 3> topology);

// Writes them. `out` [servers + 2]. Pre: a job waits in `cluster` (PACML_CHECK).
void write_cluster_globals(const Cluster& cluster, double slot, std::span<float> out);

// What candidate `a` of row `b` decides about a job of graph number `model`; whatever the row
// holds, a degree that the memo knows.
using DecisionReader =
    std::function<JobDecision(const Observations& batch, std::size_t b, int a, int model)>;

// What both sides need to know of the task.
struct ClusterViewSetting {
  std::vector<JobGraphPtr> graphs;
  // Of the job graphs' features, in the same order.
  std::vector<GraphHash> hashes;
  ExecutionMemo::Setting memo;
  int num_training_steps = 50;
  double slot = 1000;  // simulated time; the mean time between arrivals
  DecisionReader decision_of;
};

// What networks read. The situation is the row of refusing the job, which candidate 0 does.
[[nodiscard]] CandidateViewPtr make_cluster_view(ClusterViewSetting setting);

}  // namespace pacml::env

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "env/candidate_view.h"
#include "env/ramp/cluster_sight.h"
#include "env/ramp/execution_memo.h"
#include "env/tasks/ramp/recent_arrivals.h"

// How the RAMP cluster is shown to a policy. What travels of a decision is the graph of the
// servers, with how long each will be busy, how much time is left, and the job's limit. What a
// network reads is, if it has an encoder for it, that graph, and a row for each candidate, that
// describes the cluster which the candidate leaves behind, at the time when the next job is
// expected. Times are in slots: mean times between arrivals. So nothing of the arrivals to come is
// given away.
//
// Either every server is described by itself, so that a network is for one topology; or they are
// described together, by shares of however many there are, in slots of a cluster of
// kServersOfASlot, and one network serves clusters of any size.
namespace pacml::env {

// Of a cluster that is shown server by server: blocks of servers grow with them.
inline constexpr int kMostServersShown = 1024;

// Decisions show the job that waits first, and behind it the servers.
inline constexpr std::size_t kJobSlot = 0;
inline constexpr std::size_t kServersSlot = 1;

enum class ServersShown { kEach, kTogether };
inline constexpr int kServersOfASlot = 32;  // the published cluster's

// The graph of the servers, each with the slots that it will be busy for. `topologies`: of all
// clusters; where each server is shown, of the only one.
[[nodiscard]] SlotSpec servers_slot(ServersShown shown,
                                    std::span<const std::array<int, 3>> topologies);
// Nodes are servers, with their communication group, rack and place in it as shares of how many
// there are. Between any two that differ in one of these alone, which is how far a RAMP node's
// transmitters reach, there is an edge each way, with three features: 1 for what differs, else 0.
[[nodiscard]] GraphFeaturesPtr make_servers_graph(std::array<int, 3> topology);
// The time left of the episode, the job's limit as a fraction of its sequential time, and what the
// last jobs were like.
// `recent`: whether decisions show what RecentArrivals keeps.
[[nodiscard]] std::vector<FeatureSpec> cluster_globals(bool recent);

// A decision's share of the cluster. Value type.
class ShownCluster {
 public:
  // What it takes to show a cluster.
  struct Setting {
    double slot = 1000;       // as ClusterViewSetting::slot
    double mean_gap = 1000;   // simulated time between arrivals at load 1
    std::uint16_t graph = 0;  // the servers' index among the spec's graphs
  };
  // Pre: a job waits (PACML_CHECK).
  void look_at(const ClusterSight& cluster, const RecentArrivals& recent, const Setting& setting);
  // For a row's lengths.
  [[nodiscard]] std::span<const std::uint32_t> nodes() const { return {&servers_, 1}; }
  // All that a row shows but the job's graph and the candidates. Pre: the row's shape is that of a
  // job, the servers and cluster_globals() (PACML_CHECK).
  void write(const ObservationRow& row) const;

 private:
  std::uint32_t servers_ = 0;
  std::uint16_t graph_ = 0;
  std::vector<float> busy_for_;  // [servers], in slots
  std::vector<float> globals_;   // cluster_globals()
};

// What candidate `a` of row `b` decides about a job of graph number `model`; whatever the row
// holds, a degree that the memo knows.
using DecisionReader =
    std::function<JobDecision(const Observations& batch, std::size_t b, int a, int model)>;

// What both sides need to know of the task.
struct ClusterViewSetting {
  std::vector<JobGraphPtr> graphs;
  // Of the job graphs' features, in the same order, and of the servers'.
  std::vector<GraphHash> hashes;
  struct Cluster {
    GraphHash servers;
    ExecutionMemo::Setting memo;
    // When the next job is expected, at load 1.
    double next_arrival = 1;  // slots
  };
  // Those that decisions are about, told apart by the graph of their servers; at least one, and
  // where each server is shown, no other.
  std::vector<Cluster> clusters;
  ServersShown shown = ServersShown::kEach;
  int num_training_steps = 50;
  double slot = 1000;   // simulated time; see slot_shown()
  bool recent = false;  // as of cluster_globals()
  DecisionReader decision_of;
};

// How long the slot is that decisions are shown in, in simulated time, on a cluster where a job
// arrives every `mean_gap`.
[[nodiscard]] double slot_shown(ServersShown shown, int servers, double mean_gap);

// What networks read. The situation is the row of refusing the job, which candidate 0 does.
[[nodiscard]] CandidateViewPtr make_cluster_view(ClusterViewSetting setting);

}  // namespace pacml::env

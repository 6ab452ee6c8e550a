#pragma once

#include <span>
#include <vector>

#include "env/graph/partitioned_graph.h"
#include "env/ramp/ramp_config.h"
#include "env/ramp/topology.h"
#include "env/semantics.h"

namespace pacml::env {

// Servers touched by a collective, by coordinate: how many distinct groups, racks and third
// coordinates, and how many servers in all. `contending_racks`: see
// SemanticSwitches::rack_contention.
struct CollectiveSpan {
  int groups = 1;
  int racks = 1;
  int nodes = 1;
  int servers = 1;
  int contending_racks = 1;
};

// What transfers take that have the network for themselves, in simulated time. Immutable.
class NetworkCosts {
 public:
  virtual ~NetworkCosts() = default;

  // Time of one transfer between two servers; 0 for no bytes.
  [[nodiscard]] virtual double one_to_one(double bytes) const = 0;
  // Time of an all-reduce. `bytes`: of all dependencies together. Pre: more than one server.
  [[nodiscard]] virtual double collective(double bytes, const CollectiveSpan& span) const = 0;
  // Whether CollectiveSpan::contending_racks is asked for.
  [[nodiscard]] virtual bool counts_contention() const { return false; }
};

// The cost model of the optical network. Immutable.
class Communication final : public NetworkCosts {
 public:
  Communication(const RampConfig& config, const SemanticSwitches& semantics);

  [[nodiscard]] double one_to_one(double bytes) const override {
    return bytes == 0 ? 0.0 : latency_ + bytes / channel_bandwidth_;
  }
  // RAMP's all-reduce in up to four phases of subgroups (simulation model of Ottino et al.'s RAMP,
  // as published with PAC-ML).
  [[nodiscard]] double collective(double bytes, const CollectiveSpan& span) const override;

  [[nodiscard]] double channel_bandwidth() const { return channel_bandwidth_; }  // bytes/s
  [[nodiscard]] bool counts_contention() const override { return rack_contention_; }

 private:
  int groups_;
  double latency_;            // propagation and both ends' I/O
  double channel_bandwidth_;  // bytes/s of one channel
  double collective_rate_;    // bytes/s of one transceiver in a collective
  bool intra_rack_collectives_cost_;
  bool rack_contention_;
};

// Time that each dependency takes, in dependency order, before co-located and empty ones are set to
// 0: the dependency priorities are found from these values. `server`: of every op.
[[nodiscard]] std::vector<double> raw_run_times(const PartitionedGraph& job,
                                                std::span<const Server> server,
                                                const Topology& topology,
                                                const NetworkCosts& network);

}  // namespace pacml::env

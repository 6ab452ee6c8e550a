#pragma once

#include <optional>
#include <vector>

#include "env/graph/partitioned_graph.h"
#include "env/ramp/topology.h"

namespace pacml::env {

// Where the pieces of a job's forward ops go, flattened over the placement sequence: the pieces of
// its first op in order, then those of its second... A backward piece goes where its forward piece
// goes.
using Placement = std::vector<Server>;

// RAMP's first fit. An op goes where one of its parents is, when that parent has as many pieces and
// the servers have room, else to the first block of servers that no other job holds and that have
// room. `occupied`: servers that run another job. Every other server is empty: a worker holds ops
// of one job only. nullopt when an op finds no block, so that the job cannot be placed. Pure.
//
// `full_memory_check`: reserve forward and backward memory on every single server. As published
// (false) only forward memory is reserved, and a parent's servers are checked by their sum.
[[nodiscard]] std::optional<Placement> place_first_fit(const PartitionedGraph& job,
                                                       const Topology& topology,
                                                       double worker_memory,
                                                       const ServerSet& occupied,
                                                       bool full_memory_check);

// The numbers of pieces that the job's ops come in, increasing, where memory cannot decide: all
// that one server may have to hold, a piece of every op, fits a worker. First fit then puts every
// op of p pieces on the first block of p servers that no other job holds, so that these blocks are
// all that a placement depends on. nullopt: memory may decide. Pure.
[[nodiscard]] std::optional<std::vector<int>> sizes_where_memory_is_no_matter(
    const PartitionedGraph& job, double worker_memory);

// The placement with its groups, racks and places in a rack renamed, each in the order in which it
// is met. A training step takes exactly as long on either: what communication costs depends on
// which coordinates are equal, not on their values (communication.h). Pure.
[[nodiscard]] Placement in_standard_form(const Placement& placement, const Topology& topology);

// The server of every op of the partitioned graph.
[[nodiscard]] std::vector<Server> server_of_ops(const PartitionedGraph& job,
                                                const Placement& placement);

// The ops on each server in the order in which they were placed (forward piece, then its
// counterpart); indexed by server.
[[nodiscard]] std::vector<std::vector<OpIndex>> ops_on_servers(const PartitionedGraph& job,
                                                               const Placement& placement,
                                                               int num_servers);

}  // namespace pacml::env

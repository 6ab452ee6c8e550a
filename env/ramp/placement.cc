#include "env/ramp/placement.h"

#include <algorithm>
#include <span>

#include "common/index.h"

namespace pacml::env {
namespace {

// What a forward op, its counterpart and their optimiser hold.
double training_memory(const JobGraph& graph, OpIndex op) {
  const double passes = graph.memory()[at(op)] + graph.memory()[at(graph.counterpart(op))];
  return graph.optimizer_bytes().empty() ? passes : passes + graph.optimizer_bytes()[at(op)];
}

// One search: the servers' free memory and what has been placed so far.
class FirstFit {
 public:
  FirstFit(const PartitionedGraph& job, const Topology& topology, double worker_memory,
           const ServerSet& occupied, bool full_memory_check)
      : job_(job),
        topology_(topology),
        occupied_(occupied),
        full_memory_check_(full_memory_check),
        free_(at(topology.num_servers()), worker_memory),
        first_(at(job.graph().num_forward()), 0) {}

  std::optional<Placement> run() {
    const auto sequence = job_.graph().placement_sequence();
    std::size_t total = 0;
    for (const OpIndex op : sequence) total += at(job_.pieces(op));
    placement_.reserve(total);  // so that a span into it survives what is appended
    for (const OpIndex op : sequence) {
      const std::span<const Server> chosen = choose(op);
      if (chosen.empty()) return std::nullopt;
      first_[at(op)] = placement_.size();
      const double share = reserved_memory(op) / static_cast<double>(chosen.size());
      for (const Server s : chosen) {
        free_[s] -= share;
        placement_.push_back(s);
      }
    }
    return std::move(placement_);
  }

 private:
  [[nodiscard]] double reserved_memory(OpIndex op) const {
    return full_memory_check_ ? training_memory(job_.graph(), op) : job_.graph().memory()[at(op)];
  }

  // A parent's servers or a block of the topology; empty: nothing fits.
  [[nodiscard]] std::span<const Server> choose(OpIndex op) const {
    const auto pieces = at(job_.pieces(op));
    const double memory = reserved_memory(op);
    for (const OpIndex parent : job_.graph().forward_parents(op)) {
      if (at(job_.pieces(parent)) != pieces) continue;
      const auto servers = std::span(placement_).subspan(first_[at(parent)], pieces);
      if (has_room(servers, memory)) return servers;
    }
    const double share = memory / static_cast<double>(pieces);
    const auto blocks = topology_.blocks(static_cast<int>(pieces));
    for (std::size_t begin = 0; begin < blocks.size(); begin += pieces) {
      const auto block = blocks.subspan(begin, pieces);
      const bool fits = std::all_of(block.begin(), block.end(), [&](Server s) {
        return !occupied_.contains(s) && free_[s] >= share;
      });
      if (fits) return block;
    }
    return {};
  }

  [[nodiscard]] bool has_room(std::span<const Server> servers, double memory) const {
    if (full_memory_check_) {
      const double share = memory / static_cast<double>(servers.size());
      return std::all_of(servers.begin(), servers.end(),
                         [&](Server s) { return free_[s] >= share; });
    }
    double room = 0;
    for (const Server s : servers) room += free_[s];
    return room >= memory;
  }

  const PartitionedGraph& job_;
  const Topology& topology_;
  const ServerSet& occupied_;
  bool full_memory_check_;
  std::vector<double> free_;        // bytes, per server
  std::vector<std::size_t> first_;  // of each placed op: where its pieces begin in placement_
  Placement placement_;
};

}  // namespace

std::optional<Placement> place_first_fit(const PartitionedGraph& job, const Topology& topology,
                                         double worker_memory, const ServerSet& occupied,
                                         bool full_memory_check) {
  return FirstFit(job, topology, worker_memory, occupied, full_memory_check).run();
}

std::optional<std::vector<int>> sizes_where_memory_is_no_matter(const PartitionedGraph& job,
                                                                double worker_memory) {
  // Sums are compared in another order than first fit adds them up in.
  constexpr double kRounding = 1e-9;
  const auto& graph = job.graph();
  std::vector<int> sizes;
  double reserved = 0;
  double mounted = 0;
  for (const OpIndex op : graph.placement_sequence()) {
    sizes.push_back(job.pieces(op));
    reserved += training_memory(graph, op) / static_cast<double>(job.pieces(op));
    mounted += job.memory()[at(job.forward_piece(op))] + job.memory()[at(job.backward_piece(op))];
    if (!graph.optimizer_bytes().empty()) {
      mounted += graph.optimizer_bytes()[at(op)] / static_cast<double>(job.pieces(op));
    }
  }
  if (!(std::max(reserved, mounted) <= worker_memory * (1 - kRounding))) return std::nullopt;
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  return sizes;
}

Placement in_standard_form(const Placement& placement, const Topology& topology) {
  static constexpr int kUnknown = -1;
  const auto names = [](int count) { return std::vector<int>(at(count), kUnknown); };
  std::vector<int> groups = names(topology.groups());
  std::vector<int> racks = names(topology.racks());
  std::vector<int> places = names(topology.servers_per_rack());
  std::vector<int> servers = names(topology.num_servers());
  Topology::Coordinates next;
  const auto name = [](std::vector<int>& known, int value, int& unused) {
    int& found = known[at(value)];
    if (found == kUnknown) found = unused++;
    return found;
  };
  Placement renamed(placement.size());
  for (std::size_t i = 0; i < placement.size(); ++i) {
    int& known = servers[placement[i]];
    if (known == kUnknown) {
      const auto was = topology.coordinates(placement[i]);
      known = topology.server({.group = name(groups, was.group, next.group),
                               .rack = name(racks, was.rack, next.rack),
                               .server = name(places, was.server, next.server)});
    }
    renamed[i] = static_cast<Server>(known);
  }
  return renamed;
}

std::vector<Server> server_of_ops(const PartitionedGraph& job, const Placement& placement) {
  std::vector<Server> servers(at(job.num_ops()));
  auto next = placement.begin();
  for (const OpIndex op : job.graph().placement_sequence()) {
    for (int j = 0; j < job.pieces(op); ++j, ++next) {
      servers[at(job.forward_piece(op) + j)] = *next;
      servers[at(job.backward_piece(op) + j)] = *next;
    }
  }
  return servers;
}

std::vector<std::vector<OpIndex>> ops_on_servers(const PartitionedGraph& job,
                                                 const Placement& placement, int num_servers) {
  std::vector<std::vector<OpIndex>> ops(at(num_servers));
  auto next = placement.begin();
  for (const OpIndex op : job.graph().placement_sequence()) {
    for (int j = 0; j < job.pieces(op); ++j, ++next) {
      ops[*next].push_back(job.forward_piece(op) + j);
      ops[*next].push_back(job.backward_piece(op) + j);
    }
  }
  return ops;
}

}  // namespace pacml::env

#include "env/cluster/execution_memo.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.h"
#include "common/rng.h"

namespace pacml::env {
namespace {

// What a remembered thing costs beside its own arrays: map node, shared_ptr block.
constexpr std::size_t kNodeBytes = 160;

// Four servers at a time: a placement has up to a thousand.
std::uint64_t hash_placement(const Placement& placement) {
  constexpr std::size_t kPerWord = sizeof(std::uint64_t) / sizeof(Server);
  std::uint64_t hash = placement.size();
  for (std::size_t i = 0; i < placement.size(); i += kPerWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, placement.data() + i,
                std::min(kPerWord, placement.size() - i) * sizeof(Server));
    hash = (hash ^ word) * kGoldenGamma;
    hash ^= hash >> 32;
  }
  return mix64(hash);
}

}  // namespace

ExecutionMemo::ExecutionMemo(std::vector<JobGraphPtr> graphs, const Setting& setting)
    : graphs_(std::move(graphs)),
      setting_(setting),
      topology_(setting.ramp.topology, setting.max_degree),
      communication_(setting.ramp, setting.semantics),
      partitions_(graphs_.size() * (static_cast<std::size_t>(setting.max_degree) + 1)) {}

std::size_t ExecutionMemo::lasting_bytes(std::span<const JobGraphPtr> graphs,
                                         const Setting& setting) {
  const auto& shape = setting.ramp.topology;
  std::size_t bytes = Topology::block_bytes(shape, setting.max_degree);
  for (int degree = 1; degree <= setting.max_degree; degree += degree == 1 ? 1 : 2) {
    if (!Topology::has_block_shape(shape, degree)) continue;
    for (const auto& graph : graphs) {
      bytes += partitioned_bytes(*graph, degree, setting.op_quantum);
    }
  }
  return bytes;
}

std::size_t ExecutionMemo::PlacementKeyHash::operator()(const PlacementKey& key) const {
  std::uint64_t hash =
      hash_combine(static_cast<std::uint64_t>(key.graph), static_cast<std::uint64_t>(key.degree));
  for (const std::uint64_t word : key.occupied.words()) hash = hash_combine(hash, word);
  return hash;
}

const PartitionedGraphPtr& ExecutionMemo::partition(int graph, int degree) {
  PACML_CHECK(degree >= 1 && degree <= setting_.max_degree, "degree out of range");
  const auto row =
      static_cast<std::size_t>(graph) * (static_cast<std::size_t>(setting_.max_degree) + 1);
  auto& wanted = partitions_[row + static_cast<std::size_t>(degree)];
  if (wanted) return wanted;
  auto made = std::make_shared<const PartitionedGraph>(
      graphs_[static_cast<std::size_t>(graph)], degree, setting_.op_quantum, setting_.time_scale,
      setting_.semantics.activation_sized_dependencies ? DependencyBytes::kActivation
                                                       : DependencyBytes::kMemory);
  // No op reaches `degree` pieces: the graph is the one of the degree that is reached.
  auto& canonical = partitions_[row + static_cast<std::size_t>(made->degree())];
  if (!canonical) canonical = std::move(made);
  wanted = canonical;
  return wanted;
}

ExecutionPtr ExecutionMemo::place(int graph, int degree, const ServerSet& occupied) {
  ++counters_.placements;
  const PartitionedGraphPtr& job = partition(graph, degree);
  PlacementKey key{graph, job->degree(), occupied};
  if (const auto known = by_occupancy_.find(key); known != by_occupancy_.end()) {
    ++counters_.placement_hits;
    return known->second;
  }
  ExecutionPtr execution;
  auto placement = place_first_fit(*job, topology_, setting_.ramp.worker_memory, occupied,
                                   setting_.semantics.full_memory_check);
  if (placement) execution = intern(graph, job->degree(), *std::move(placement));
  account(sizeof(PlacementKey) + occupied.words().size_bytes() + kNodeBytes);
  by_occupancy_.emplace(std::move(key), execution);
  return execution;
}

ExecutionPtr ExecutionMemo::intern(int graph, int degree, Placement placement) {
  const PartitionedGraphPtr& job = partition(graph, degree);
  const std::uint64_t hash = hash_combine(
      hash_combine(static_cast<std::uint64_t>(graph), static_cast<std::uint64_t>(degree)),
      hash_placement(placement));
  const auto [begin, end] = by_placement_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second->job == job && it->second->placement == placement) return it->second;
  }
  auto execution = execute(job, std::move(placement));
  account(sizeof(Execution) + execution->placement.capacity() * sizeof(Server) + kNodeBytes);
  by_placement_.emplace(hash, execution);
  return execution;
}

ExecutionPtr ExecutionMemo::execute(const PartitionedGraphPtr& job, Placement placement) const {
  auto out = std::make_shared<Execution>();
  out->job = job;
  out->servers = ServerSet(topology_.num_servers());
  const auto server = server_of_ops(*job, placement);
  std::vector<double> mounted(static_cast<std::size_t>(topology_.num_servers()), 0.0);
  std::vector<std::int32_t> local(mounted.size(), -1);
  for (std::size_t op = 0; op < server.size(); ++op) {
    if (local[server[op]] < 0) {
      local[server[op]] = out->num_servers++;
      out->servers.insert(server[op]);
    }
    mounted[server[op]] += job->memory()[op];
    out->fits_memory = out->fits_memory && mounted[server[op]] <= setting_.ramp.worker_memory;
  }
  const auto n = static_cast<std::size_t>(out->num_servers);
  std::vector<char> uses_channel(n * n, 0);
  for (std::size_t d = 0; d < job->bytes().size(); ++d) {
    if (!is_flow(*job, server, d)) continue;
    out->flow_bytes += job->bytes()[d];
    const auto from = local[server[static_cast<std::size_t>(job->src()[d])]];
    const auto to = local[server[static_cast<std::size_t>(job->dst()[d])]];
    char& used = uses_channel[static_cast<std::size_t>(from) * n + static_cast<std::size_t>(to)];
    out->num_channels += used == 0 ? 1 : 0;
    used = 1;
  }
  out->placement = std::move(placement);
  return out;
}

const std::shared_ptr<const Lookahead>& ExecutionMemo::lookahead(const Execution& execution) {
  if (!execution.lookahead) {
    ++counters_.lookaheads;
    const auto server = server_of_ops(*execution.job, execution.placement);
    const auto raw = raw_run_times(*execution.job, server, topology_, communication_);
    execution.lookahead = std::make_shared<const Lookahead>(
        simulate_step(*execution.job, execution.placement, server, raw, topology_.num_servers(),
                      setting_.semantics));
    account(sizeof(Lookahead) + execution.lookahead->ticks.size() * sizeof(Lookahead::Tick));
  }
  return execution.lookahead;
}

void ExecutionMemo::account(std::size_t bytes) {
  counters_.bytes += bytes;
  if (counters_.bytes <= setting_.max_bytes) return;
  by_occupancy_.clear();
  by_placement_.clear();
  counters_.bytes = bytes;
}

}  // namespace pacml::env

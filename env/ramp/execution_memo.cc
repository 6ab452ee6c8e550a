#include "env/ramp/execution_memo.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "common/check.h"
#include "common/hash.h"
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

std::uint64_t num_blocks(const Topology& topology, int size) {
  return topology.blocks(size).size() / static_cast<std::size_t>(size);
}

// Whether a block of each size can be told by one number.
bool can_be_numbered(std::span<const int> sizes, const Topology& topology) {
  double combinations = 1;
  for (const int size : sizes) {
    combinations *= static_cast<double>(std::max<std::uint64_t>(1, num_blocks(topology, size)));
  }
  return combinations < 0x1p62;
}

Placement numbered_as_met(const Placement& placement, int num_servers) {
  static constexpr int kUnknown = -1;
  std::vector<int> numbers(static_cast<std::size_t>(num_servers), kUnknown);
  int next = 0;
  Placement out;
  out.reserve(placement.size());
  for (const Server server : placement) {
    int& number = numbers[server];
    if (number == kUnknown) number = next++;
    out.push_back(static_cast<Server>(number));
  }
  return out;
}

// An optimiser's share lies where the pieces of its backward op run.
void mount_optimizer(const PartitionedGraph& job, std::span<const Server> server_of_op,
                     std::span<double> mounted) {
  const auto held = job.graph().optimizer_bytes();
  for (std::size_t op = 0; op < held.size(); ++op) {
    const auto forward = static_cast<OpIndex>(op);
    const int pieces = job.pieces(forward);
    for (OpIndex j = 0; j < pieces; ++j) {
      mounted[server_of_op[static_cast<std::size_t>(job.backward_piece(forward)) +
                           static_cast<std::size_t>(j)]] += held[op] / pieces;
    }
  }
}

}  // namespace

ExecutionMemo::ExecutionMemo(std::vector<JobGraphPtr> graphs, const Setting& setting)
    : graphs_(std::move(graphs)),
      setting_(setting),
      topology_(setting.ramp.topology, setting.max_degree),
      communication_(setting.ramp, setting.semantics),
      cut_of_(graphs_.size() * (static_cast<std::size_t>(setting.max_degree) + 1)),
      first_free_{.occupied = ServerSet(topology_.num_servers()), .blocks = {}} {
  first_free_.blocks.resize(static_cast<std::size_t>(setting.max_degree) + 1);
}

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

ExecutionMemo::Cut& ExecutionMemo::cut(int graph, int degree) {
  PACML_CHECK(degree >= 1 && degree <= setting_.max_degree, "degree out of range");
  Cut*& known = cut_of_[static_cast<std::size_t>(graph) *
                            (static_cast<std::size_t>(setting_.max_degree) + 1) +
                        static_cast<std::size_t>(degree)];
  if (known == nullptr) known = &make_cut(graph, degree);
  return *known;
}

ExecutionMemo::Cut& ExecutionMemo::make_cut(int graph, int degree) {
  auto made = std::make_shared<const PartitionedGraph>(
      graphs_[static_cast<std::size_t>(graph)], degree, setting_.op_quantum, setting_.time_scale,
      setting_.semantics.activation_sized_dependencies ? DependencyBytes::kActivation
                                                       : DependencyBytes::kMemory);
  // No op reaches `degree` pieces: the graph is the one of the degree that is reached.
  if (made->degree() < degree) return cut(graph, made->degree());
  auto made_sizes = sizes_where_memory_is_no_matter(*made, setting_.ramp.worker_memory);
  if (made_sizes && !can_be_numbered(*made_sizes, topology_)) made_sizes.reset();
  std::optional<std::vector<Cut::Size>> sizes;
  if (made_sizes) {
    sizes.emplace();
    for (const int size : *made_sizes) sizes->push_back({size, num_blocks(topology_, size)});
  }
  return *cuts_.emplace_back(std::make_unique<Cut>(Cut{std::move(made), std::move(sizes), {}}));
}

const PartitionedGraphPtr& ExecutionMemo::partition(int graph, int degree) {
  return cut(graph, degree).job;
}

const ExecutionPtr& ExecutionMemo::place(int graph, int degree, const ServerSet& occupied) {
  ++counters_.placements;
  Cut& wanted = cut(graph, degree);
  return wanted.sizes ? place_by_blocks(graph, wanted, occupied)
                      : place_by_occupancy(graph, wanted, occupied);
}

const ExecutionPtr& ExecutionMemo::place(int graph, int degree, const ServerSet& occupied,
                                         const ServerSet* block) {
  if (block == nullptr) return place(graph, degree, occupied);
  ServerSet closed = occupied;
  closed.insert_all_but(*block, topology_.num_servers());
  return place(graph, degree, closed);
}

const ExecutionPtr& ExecutionMemo::place_that_fits(int graph, int degree, const ServerSet& occupied,
                                                   const ServerSet* block) {
  static const ExecutionPtr kNowhere;
  const ExecutionPtr& execution = place(graph, degree, occupied, block);
  return execution && execution->fits_memory ? execution : kNowhere;
}

void ExecutionMemo::forget_when_full() {
  if (counters_.bytes <= setting_.max_bytes) return;
  by_occupancy_.clear();
  by_placement_.clear();
  by_standard_form_.clear();
  by_run_times_.clear();
  for (const auto& cut : cuts_) cut->by_blocks.clear();
  counters_.bytes = 0;
}

int ExecutionMemo::first_free(int size, const ServerSet& occupied) {
  if (first_free_.occupied != occupied) {
    first_free_.occupied = occupied;
    ++first_free_.set;
  }
  auto& [in, block] = first_free_.blocks[static_cast<std::size_t>(size)];
  if (in != first_free_.set) {
    in = first_free_.set;
    block = topology_.first_free(size, occupied);
  }
  return block;
}

const ExecutionPtr& ExecutionMemo::place_by_blocks(int graph, Cut& cut, const ServerSet& occupied) {
  static const ExecutionPtr kNowhere;
  std::uint64_t number = 0;
  for (const auto& [size, blocks] : *cut.sizes) {
    const int block = first_free(size, occupied);
    if (block < 0) {
      ++counters_.placement_hits;
      return kNowhere;
    }
    number = number * blocks + static_cast<std::uint64_t>(block);
  }
  if (const ExecutionPtr* const found = cut.by_blocks.find(number)) {
    ++counters_.placement_hits;
    return *found;
  }
  ExecutionPtr made = first_fit(graph, cut, occupied);
  const std::size_t bytes = cut.by_blocks.bytes();
  ExecutionPtr& known = cut.by_blocks[number];
  account(cut.by_blocks.bytes() - bytes);
  known = std::move(made);
  return known;
}

const ExecutionPtr& ExecutionMemo::place_by_occupancy(int graph, const Cut& cut,
                                                      const ServerSet& occupied) {
  PlacementKey key{graph, cut.job->degree(), occupied};
  if (const auto known = by_occupancy_.find(key); known != by_occupancy_.end()) {
    ++counters_.placement_hits;
    return known->second;
  }
  auto execution = first_fit(graph, cut, occupied);
  account(sizeof(PlacementKey) + occupied.words().size_bytes() + kNodeBytes);
  return by_occupancy_.emplace(std::move(key), std::move(execution)).first->second;
}

ExecutionPtr ExecutionMemo::first_fit(int graph, const Cut& cut, const ServerSet& occupied) {
  auto placement = place_first_fit(*cut.job, topology_, setting_.ramp.worker_memory, occupied,
                                   setting_.semantics.full_memory_check);
  return placement ? intern(graph, cut.job, *std::move(placement)) : nullptr;
}

ExecutionPtr ExecutionMemo::intern(int graph, const PartitionedGraphPtr& job, Placement placement) {
  const std::uint64_t hash = hash_combine(
      hash_combine(static_cast<std::uint64_t>(graph), static_cast<std::uint64_t>(job->degree())),
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

ExecutionPtr ExecutionMemo::execute(const PartitionedGraphPtr& job, Placement placement) {
  auto out = std::make_shared<Execution>();
  out->number = made_++;
  out->total_compute = job->total_compute();
  out->job = job;
  out->servers = ServerSet(topology_.num_servers());
  for (const Server server : placement) out->servers.insert(server);
  out->num_servers = out->servers.count();
  out->standard = standardise(job, placement);
  out->flow_bytes = out->standard->flow_bytes;
  out->num_channels = out->standard->num_channels;
  out->fits_memory = out->standard->fits_memory;
  out->placement = std::move(placement);
  return out;
}

std::shared_ptr<StandardExecution> ExecutionMemo::standardise(const PartitionedGraphPtr& job,
                                                              const Placement& placement) {
  Placement form = in_standard_form(placement, topology_);
  const std::uint64_t hash =
      hash_combine(std::hash<PartitionedGraphPtr>{}(job), hash_placement(form));
  const auto [begin, end] = by_standard_form_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second->job == job && it->second->placement == form) return it->second;
  }
  account(sizeof(StandardExecution) + form.size() * sizeof(Server) + kNodeBytes);
  auto made = std::make_shared<StandardExecution>(execute_standard(job, std::move(form)));
  by_standard_form_.emplace(hash, made);
  return made;
}

StandardExecution ExecutionMemo::execute_standard(const PartitionedGraphPtr& job,
                                                  Placement placement) const {
  StandardExecution out;
  const auto server = server_of_ops(*job, placement);
  std::vector<double> mounted(static_cast<std::size_t>(topology_.num_servers()), 0.0);
  std::vector<std::int32_t> local(mounted.size(), -1);
  std::int32_t num_servers = 0;
  for (std::size_t op = 0; op < server.size(); ++op) {
    if (local[server[op]] < 0) local[server[op]] = num_servers++;
    mounted[server[op]] += job->memory()[op];
  }
  mount_optimizer(*job, server, mounted);
  out.fits_memory = std::ranges::max(mounted) <= setting_.ramp.worker_memory;
  const auto n = static_cast<std::size_t>(num_servers);
  std::vector<char> uses_channel(n * n, 0);
  for (std::size_t d = 0; d < job->bytes().size(); ++d) {
    if (!is_flow(*job, server, d)) continue;
    out.flow_bytes += job->bytes()[d];
    const auto from = local[server[static_cast<std::size_t>(job->src()[d])]];
    const auto to = local[server[static_cast<std::size_t>(job->dst()[d])]];
    char& used = uses_channel[static_cast<std::size_t>(from) * n + static_cast<std::size_t>(to)];
    out.num_channels += used == 0 ? 1 : 0;
    used = 1;
  }
  out.job = job;
  out.placement = std::move(placement);
  return out;
}

ExecutionPtr ExecutionMemo::occupation(const ServerSet& servers) {
  auto out = std::make_shared<Execution>();
  out->job = partition(0, 1);  // some job
  out->total_compute = out->job->total_compute();
  out->servers = servers;
  out->num_servers = servers.count();
  return out;
}

const std::shared_ptr<const Lookahead>& ExecutionMemo::lookahead(const Execution& execution) {
  PACML_CHECK(execution.standard, "a job that was placed");
  StandardExecution& standard = *execution.standard;
  if (!standard.lookahead) standard.lookahead = look_ahead(standard);
  execution.step_time = standard.lookahead->step_time;
  return standard.lookahead;
}

std::shared_ptr<const Lookahead> ExecutionMemo::look_ahead(const StandardExecution& execution) {
  const PartitionedGraph& job = *execution.job;
  const auto server = server_of_ops(job, execution.placement);
  const auto raw = raw_run_times(job, server, topology_, communication_);
  KnownStep step = {execution.job, numbered_as_met(execution.placement, topology_.num_servers()),
                    content_hash(std::span(raw)), nullptr};
  const std::uint64_t hash =
      hash_combine(hash_combine(std::hash<PartitionedGraphPtr>{}(step.job), step.run_times),
                   hash_placement(step.pieces));
  const auto [begin, end] = by_run_times_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const KnownStep& known = it->second;
    if (known.job == step.job && known.run_times == step.run_times && known.pieces == step.pieces) {
      return known.lookahead;
    }
  }
  ++counters_.lookaheads;
  step.lookahead = std::make_shared<const Lookahead>(simulate_step(
      job, execution.placement, server, raw, topology_.num_servers(), setting_.semantics));
  account(sizeof(Lookahead) + step.lookahead->ticks.size() * sizeof(Lookahead::Tick) +
          sizeof(KnownStep) + step.pieces.size() * sizeof(Server) + kNodeBytes);
  return by_run_times_.emplace(hash, std::move(step))->second.lookahead;
}

}  // namespace pacml::env

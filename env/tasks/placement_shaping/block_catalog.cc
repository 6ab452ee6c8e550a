#include "env/tasks/placement_shaping/block_catalog.h"

#include <algorithm>

namespace pacml::env {
namespace {

int most_pieces(const PartitionedGraph& job) {
  int most = 0;
  for (const OpIndex op : job.graph().placement_sequence()) most = std::max(most, job.pieces(op));
  return most;
}

std::vector<ServerSet> block_sets(const Topology& topology, int size) {
  std::vector<ServerSet> sets;
  for (const auto& block : distinct_blocks(topology, size)) {
    ServerSet& set = sets.emplace_back(topology.num_servers());
    for (const Server s : block) set.insert(s);
  }
  return sets;
}

}  // namespace

BlockCatalog::BlockCatalog(std::span<const JobGraphPtr> graphs,
                           const ExecutionMemo::Setting& setting, std::span<const int> degrees)
    : degrees_(static_cast<std::size_t>(setting.max_degree) + 1),
      size_(graphs.size() * degrees_),
      of_size_(degrees_) {
  ExecutionMemo memo({graphs.begin(), graphs.end()}, setting);
  for (std::size_t model = 0; model < graphs.size(); ++model) {
    for (const int degree : degrees) {
      const int size = most_pieces(*memo.partition(static_cast<int>(model), degree));
      size_[model * degrees_ + static_cast<std::size_t>(degree)] = size;
      auto& sets = of_size_[static_cast<std::size_t>(size)];
      if (sets.empty()) sets = block_sets(memo.topology(), size);
    }
  }
}

std::span<const ServerSet> BlockCatalog::blocks(int model, int degree) const {
  if (degree < 0 || static_cast<std::size_t>(degree) >= degrees_) return {};
  const std::size_t at =
      static_cast<std::size_t>(model) * degrees_ + static_cast<std::size_t>(degree);
  return at < size_.size() ? of_size_[static_cast<std::size_t>(size_[at])]
                           : std::span<const ServerSet>{};
}

const ServerSet* BlockCatalog::block(int model, int degree, int number) const {
  const auto all = blocks(model, degree);
  const auto at = static_cast<std::size_t>(number) - 1;
  return number >= 1 && at < all.size() ? &all[at] : nullptr;
}

}  // namespace pacml::env

#include "env/ramp/block_index.h"

#include <algorithm>

namespace pacml::env {
namespace {

constexpr std::size_t kBits = 64;

// Each as its servers in order. A size that no decision may ask for has none, though parts of a job
// that are cut so may find a place.
std::vector<std::vector<Server>> distinct_blocks(const Topology& topology, int size) {
  std::vector<std::vector<Server>> blocks;
  if (!topology.has_block_shape(size)) return blocks;
  const auto list = topology.blocks(size);
  for (std::size_t begin = 0; begin < list.size(); begin += static_cast<std::size_t>(size)) {
    const auto block = list.subspan(begin, static_cast<std::size_t>(size));
    std::ranges::sort(blocks.emplace_back(block.begin(), block.end()));
  }
  std::ranges::sort(blocks);
  blocks.erase(std::ranges::unique(blocks).begin(), blocks.end());
  return blocks;
}

}  // namespace

BlockIndex::BlockIndex(const Topology& topology, std::span<const int> sizes) {
  std::vector<std::vector<std::vector<Server>>> blocks;
  for (const int size : sizes) {
    const auto& made = blocks.emplace_back(distinct_blocks(topology, size));
    const std::size_t end = words_ + (made.size() + kBits - 1) / kBits;
    sizes_.push_back({static_cast<std::uint32_t>(made.size()), words_, end});
    words_ = end;
  }
  rows_.resize(static_cast<std::size_t>(topology.num_servers()) * words_);
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    for (std::size_t b = 0; b < blocks[i].size(); ++b) {
      for (const Server server : blocks[i][b]) {
        rows_[server * words_ + sizes_[i].begin + b / kBits] |= Word{1} << (b % kBits);
      }
    }
  }
}

}  // namespace pacml::env

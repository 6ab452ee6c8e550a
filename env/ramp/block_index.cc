#include "env/ramp/block_index.h"

namespace pacml::env {
namespace {

constexpr std::size_t kBits = 64;

}  // namespace

BlockIndex::BlockIndex(const Topology& topology, std::span<const int> sizes) {
  std::vector<std::vector<std::vector<Server>>> blocks;
  for (const int size : sizes) {
    auto& made = blocks.emplace_back();
    // A size that no decision may ask for has none, though parts of a job that are cut so may find
    // a place.
    if (topology.has_block_shape(size)) made = distinct_blocks(topology, size);
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

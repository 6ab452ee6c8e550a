#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "env/ramp/topology.h"

namespace pacml::env {

// How many bits are set. std::popcount is a call that looks bytes up where the processor may lack
// the instruction, as the baseline of x86-64 does.
[[nodiscard]] constexpr std::uint32_t count_bits(std::uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555U;
  word = (word & 0x3333333333333333U) + ((word >> 2) & 0x3333333333333333U);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
  return static_cast<std::uint32_t>((word * 0x0101010101010101U) >> 56);
}

// Counts the blocks of a RAMP cluster that are free, of several sizes at once. A set of blocks is
// words with a bit for each; a server that is taken takes those that it is part of, so that the
// blocks which some servers take are the union of a row for each. Immutable.
class BlockIndex {
 public:
  using Word = std::uint64_t;
  // All blocks of each of these sizes, whatever their shape, each set of servers once; none of a
  // size that is no degree there (Topology::has_block_shape).
  BlockIndex(const Topology& topology, std::span<const int> sizes);

  [[nodiscard]] std::size_t words() const { return words_; }
  [[nodiscard]] std::size_t num_sizes() const { return sizes_.size(); }
  // How many blocks of the size at that place there are.
  [[nodiscard]] std::uint32_t count(std::size_t size) const { return sizes_[size].blocks; }
  // Adds the blocks that the server is part of to a set.
  void take(Server server, std::span<Word> taken) const {
    const Word* const row = rows_.data() + server * words_;
    for (std::size_t w = 0; w < words_; ++w) taken[w] |= row[w];
  }
  // How many blocks of that size are in neither set.
  [[nodiscard]] std::uint32_t count_free(std::size_t size, std::span<const Word> taken,
                                         std::span<const Word> taken_too) const {
    const auto& [blocks, begin, end] = sizes_[size];
    std::uint32_t count = blocks;
    for (std::size_t w = begin; w < end; ++w) count -= count_bits(taken[w] | taken_too[w]);
    return count;
  }

 private:
  struct Size {
    std::uint32_t blocks = 0;
    std::size_t begin = 0;  // of its words
    std::size_t end = 0;
  };
  std::vector<Size> sizes_;
  std::size_t words_ = 0;
  std::vector<Word> rows_;  // [servers, words]
};

}  // namespace pacml::env

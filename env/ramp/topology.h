#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "env/ramp/ramp_config.h"

namespace pacml::env {

using Server = std::uint16_t;  // flat index (group * racks + rack) * servers_per_rack + server

// Each server of a set in turn, by number. `words`: as ServerSet::words().
template <class F>
void for_each_server(std::span<const std::uint64_t> words, F&& f) {
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
      f(static_cast<Server>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

// Which servers of the cluster are in a set. Value type, one bit a server; up to 64 of them take no
// memory besides.
class ServerSet {
 public:
  ServerSet() = default;
  explicit ServerSet(int num_servers)
      : more_(num_servers > kWordBits ? (static_cast<std::size_t>(num_servers) + 63) / 64 : 0) {}
  void insert(Server s) { bits()[s / 64] |= std::uint64_t{1} << (s % 64); }
  void erase(Server s) { bits()[s / 64] &= ~(std::uint64_t{1} << (s % 64)); }
  void insert(const ServerSet& other) {
    const auto mine = bits();
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] |= other.words()[i];
  }
  void erase(const ServerSet& other) { erase(other.words()); }
  void erase(std::span<const std::uint64_t> other) {
    const auto mine = bits();
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] &= ~other[i];
  }
  // All of a cluster's servers that are not in the other set.
  void insert_all_but(const ServerSet& other, int num_servers) {
    const auto mine = bits();
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] |= ~other.words()[i];
    if (num_servers % 64 != 0) mine.back() &= (std::uint64_t{1} << (num_servers % 64)) - 1;
  }
  [[nodiscard]] bool overlaps(const ServerSet& other) const {
    for (std::size_t i = 0; i < words().size(); ++i) {
      if ((words()[i] & other.words()[i]) != 0) return true;
    }
    return false;
  }
  void clear() { std::ranges::fill(bits(), 0); }
  [[nodiscard]] bool contains(Server s) const { return ((words()[s / 64] >> (s % 64)) & 1) != 0; }
  [[nodiscard]] int count() const;
  // Each server in turn, by number.
  template <class F>
  void for_each(F&& f) const {
    for_each_server(words(), f);
  }
  // At least one; of a set of no cluster, it is 0.
  [[nodiscard]] std::span<const std::uint64_t> words() const {
    return more_.empty() ? std::span<const std::uint64_t>(&first_, 1) : more_;
  }
  bool operator==(const ServerSet&) const = default;

 private:
  static constexpr int kWordBits = 64;
  [[nodiscard]] std::span<std::uint64_t> bits() {
    return more_.empty() ? std::span<std::uint64_t>(&first_, 1) : more_;
  }

  std::uint64_t first_ = 0;          // where that is enough
  std::vector<std::uint64_t> more_;  // else all of them
};

// The shape of the cluster, and the blocks of servers that a cut op may be placed on. Immutable
// after construction.
class Topology {
 public:
  // `max_pieces`: the largest block that will be asked for.
  Topology(std::array<int, 3> shape, int max_pieces);

  // What the candidate blocks of up to so many pieces take, without making them.
  [[nodiscard]] static std::size_t block_bytes(std::array<int, 3> shape, int max_pieces);

  [[nodiscard]] int groups() const { return shape_[0]; }
  [[nodiscard]] int racks() const { return shape_[1]; }
  [[nodiscard]] int servers_per_rack() const { return shape_[2]; }
  [[nodiscard]] int num_servers() const { return env::num_servers(shape_); }

  struct Coordinates {
    int group = 0, rack = 0, server = 0;
  };
  [[nodiscard]] Coordinates coordinates(Server s) const {
    return {s / (shape_[1] * shape_[2]), s / shape_[2] % shape_[1], s % shape_[2]};
  }
  [[nodiscard]] Server server(const Coordinates& at) const {
    return static_cast<Server>((at.group * shape_[1] + at.rack) * shape_[2] + at.server);
  }

  // True when `pieces` servers form at least one of the divisor shapes in an empty cluster of this
  // shape.
  [[nodiscard]] static bool has_block_shape(std::array<int, 3> shape, int pieces);
  // The same of this cluster: what the action mask asks.
  [[nodiscard]] bool has_block_shape(int pieces) const {
    return shape_exists_[static_cast<std::size_t>(pieces)] != 0;
  }

  // Candidate blocks of `pieces` servers in the order in which first fit tries them, flattened:
  // candidate b is servers [b * pieces, (b + 1) * pieces); piece j goes to the j-th server of a
  // block. Empty when pieces exceeds the servers.
  [[nodiscard]] std::span<const Server> blocks(int pieces) const {
    return blocks_[static_cast<std::size_t>(pieces)];
  }
  // The first of those candidates without a server in `occupied`; -1: there is none.
  [[nodiscard]] int first_free(int pieces, const ServerSet& occupied) const;

 private:
  std::array<int, 3> shape_;
  std::vector<std::uint8_t> shape_exists_;   // 0/1, by number of pieces
  std::vector<std::vector<Server>> blocks_;  // by number of pieces; only 1 and even numbers occur
  // The same as sets, one word each, where a word holds all servers; else empty.
  std::vector<std::vector<std::uint64_t>> masks_;
};

// The candidate blocks of `pieces` servers, each set of servers once, in however many ways first
// fit comes to it: its servers by number, the blocks in first fit's order.
[[nodiscard]] std::vector<std::vector<Server>> distinct_blocks(const Topology& topology,
                                                               int pieces);

}  // namespace pacml::env

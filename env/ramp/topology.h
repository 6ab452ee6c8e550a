#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "env/ramp/ramp_config.h"

namespace pacml::env {

using Server = std::uint16_t;  // flat index (group * racks + rack) * servers_per_rack + server

// Which servers of the cluster are in a set. Value type, one bit a server.
class ServerSet {
 public:
  ServerSet() = default;
  explicit ServerSet(int num_servers) : words_((static_cast<std::size_t>(num_servers) + 63) / 64) {}
  void insert(Server s) { words_[s / 64] |= std::uint64_t{1} << (s % 64); }
  void erase(Server s) { words_[s / 64] &= ~(std::uint64_t{1} << (s % 64)); }
  void insert(const ServerSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void erase(const ServerSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }
  // All of a cluster's servers that are not in the other set.
  void insert_all_but(const ServerSet& other, int num_servers) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= ~other.words_[i];
    if (num_servers % 64 != 0) words_.back() &= (std::uint64_t{1} << (num_servers % 64)) - 1;
  }
  [[nodiscard]] bool overlaps(const ServerSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  void clear() { words_.assign(words_.size(), 0); }
  [[nodiscard]] bool contains(Server s) const { return ((words_[s / 64] >> (s % 64)) & 1) != 0; }
  [[nodiscard]] int count() const;
  // Each server in turn, by number.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        f(static_cast<Server>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
      }
    }
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }
  bool operator==(const ServerSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
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
  [[nodiscard]] int num_servers() const { return shape_[0] * shape_[1] * shape_[2]; }

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
    return shape_exists_[static_cast<std::size_t>(pieces)];
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
  std::vector<bool> shape_exists_;
  std::vector<std::vector<Server>> blocks_;  // by number of pieces; only 1 and even numbers occur
  // The same as sets, one word each, where a word holds all servers; else empty.
  std::vector<std::vector<std::uint64_t>> masks_;
};

}  // namespace pacml::env

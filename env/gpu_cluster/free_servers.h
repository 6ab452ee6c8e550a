#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pacml::env {

// The servers of a scope by how many of their GPUs are idle, so that the one to choose is found
// without looking at all of them. Thread-confined.
class FreeServers {
 public:
  // Servers first .. end - 1, all idle.
  FreeServers(std::int32_t first, std::int32_t end, std::int32_t per_server)
      : first_(first),
        words_((static_cast<std::size_t>(end - first) + 63) / 64),
        count_(static_cast<std::size_t>(per_server) + 1),
        bits_(words_ * count_.size()),
        total_(std::int64_t{end - first} * per_server) {
    for (std::int32_t s = first; s < end; ++s) flip(s, per_server);
    count_.back() = end - first;
  }

  [[nodiscard]] std::int64_t total() const { return total_; }  // idle GPUs
  // The most that a server has idle.
  [[nodiscard]] std::int32_t most() const {
    std::size_t n = count_.size() - 1;
    while (n > 0 && count_[n] == 0) --n;
    return static_cast<std::int32_t>(n);
  }

  void move(std::int32_t server, std::int32_t from, std::int32_t to) {
    flip(server, from);
    flip(server, to);
    --count_[static_cast<std::size_t>(from)];
    ++count_[static_cast<std::size_t>(to)];
    total_ += to - from;
  }

  // Of those with at least n idle GPUs: the lowest id, the fewest idle GPUs, the most; the lowest
  // id where several have as many. -1: none.
  [[nodiscard]] std::int32_t first_fit(std::int32_t n) const {
    std::size_t lowest = words_ * 64;
    for (std::size_t k = static_cast<std::size_t>(n); k < count_.size(); ++k) {
      if (count_[k] > 0) lowest = std::min(lowest, lowest_bit(k));
    }
    return lowest == words_ * 64 ? -1 : first_ + static_cast<std::int32_t>(lowest);
  }
  [[nodiscard]] std::int32_t best_fit(std::int32_t n) const {
    for (std::size_t k = static_cast<std::size_t>(n); k < count_.size(); ++k) {
      if (count_[k] > 0) return first_ + static_cast<std::int32_t>(lowest_bit(k));
    }
    return -1;
  }
  [[nodiscard]] std::int32_t least_loaded(std::int32_t n) const {
    const std::int32_t k = most();
    return k < n ? -1 : first_ + static_cast<std::int32_t>(lowest_bit(static_cast<std::size_t>(k)));
  }

 private:
  void flip(std::int32_t server, std::int32_t idle) {
    const auto i = static_cast<std::size_t>(server - first_);
    bits_[static_cast<std::size_t>(idle) * words_ + i / 64] ^= std::uint64_t{1} << (i % 64);
  }
  // Pre: there is one.
  [[nodiscard]] std::size_t lowest_bit(std::size_t idle) const {
    std::size_t w = 0;
    while (bits_[idle * words_ + w] == 0) ++w;
    return w * 64 + static_cast<std::size_t>(std::countr_zero(bits_[idle * words_ + w]));
  }

  std::int32_t first_;
  std::size_t words_;
  std::vector<std::int32_t> count_;  // [0 .. per server]: servers with so many idle GPUs
  std::vector<std::uint64_t> bits_;  // [0 .. per server, words]
  std::int64_t total_;
};

}  // namespace pacml::env

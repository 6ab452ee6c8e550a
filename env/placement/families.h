#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/rng.h"
#include "env/placement/op_graph.h"

// Graphs that are drawn, each a function of its family and its number alone, on every machine
// (docs/placement.md). Pure.

namespace pacml::env {

// splitmix64 as a stream, with the draws that the families are defined by. Value type.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t next() {
    state_ += kGoldenGamma;
    return mix64(state_);
  }
  // In 0 .. n - 1, out of the upper half of a draw. Pre: 0 < n < 2^32.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return ((next() >> 32) * n) >> 32; }
  // In [0, 1), 53 bits.
  [[nodiscard]] double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

// "branch", "cell", "grid", "layered"
[[nodiscard]] const std::vector<std::string>& graph_families();
// Graph `number` of a family. UserError: there is no such family.
[[nodiscard]] OpGraphSpec family_graph(std::string_view family, std::uint64_t number);

// A source, `width` chains of `length` operations each, a sink.
[[nodiscard]] OpGraphSpec chain_graph(int length, int width, double cost_us, double bytes);
// `height` rows of `length` operations with edges right and up; the last row feeds one more.
[[nodiscard]] OpGraphSpec crown_graph(int length, int height, double cost_us, double bytes);
// `count` operations that each feed another one.
[[nodiscard]] OpGraphSpec pairs_graph(int count, double cost_us, double bytes);

// FNV-1a 64 over "name cost b0,b1 group;" of all operations, then "producer output consumer;" of
// all edges, in 16 hexadecimal digits. Costs and sizes are whole numbers, or are cut to such.
[[nodiscard]] std::string fingerprint(const OpGraphSpec& spec);

}  // namespace pacml::env

#include "env/ramp/topology.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "common/check.h"

namespace pacml::env {
namespace {

using Shape = std::array<int, 3>;

constexpr long long kMaxServers = 4096;
constexpr int kWordBits = 64;
constexpr double kMostBytes = 1e24;   // beyond any machine; far from where sums lose themselves
constexpr double kMostLatency = 1e6;  // s

// Shapes of `pieces` servers from the factor pairs (pieces / i, i), in the order of first fit.
std::vector<Shape> divisor_shapes(int pieces, const Shape& cluster) {
  std::vector<Shape> shapes;
  for (int i = 1; i <= pieces; ++i) {
    if (pieces % i != 0) continue;
    const int a = pieces / i;
    const int root = static_cast<int>(std::lround(std::sqrt(a)));
    const bool fits_rack = i <= cluster[2];
    if (root * root == a && root <= cluster[0] && root <= cluster[1] && fits_rack) {
      shapes.push_back({root, root, i});
    }
    if (a <= cluster[0] && a <= cluster[1] && fits_rack) {
      shapes.push_back({a, 1, i});
      shapes.push_back({a, i, 1});
    }
  }
  return shapes;
}

Server flat(int group, int rack, int server, const Shape& cluster) {
  return static_cast<Server>((group * cluster[1] + rack) * cluster[2] + server);
}

void append_blocks(const Shape& block, const Shape& cluster, std::vector<Server>& out) {
  for (int i = 0; i + block[0] <= cluster[0]; ++i) {
    for (int j = 0; j + block[1] <= cluster[1]; ++j) {
      for (int l = 0; l + block[2] <= cluster[2]; ++l) {
        for (int a = 0; a < block[0]; ++a) {
          for (int b = 0; b < block[1]; ++b) {
            for (int d = 0; d < block[2]; ++d) out.push_back(flat(i + a, j + b, l + d, cluster));
          }
        }
      }
    }
  }
}

// A diagonal through groups and racks. The published search offers each origin's third coordinate
// twice over (it wraps); the repeats are left out, since first fit never takes a block that it
// refused.
void append_diagonals(int pieces, const Shape& cluster, std::vector<Server>& out) {
  for (int i = 0; i + pieces <= cluster[0]; ++i) {
    for (int j = 0; j + pieces <= cluster[1]; ++j) {
      for (int l = 0; l < cluster[2]; ++l) {
        for (int t = 0; t < pieces; ++t) out.push_back(flat(i + t, j + t, l, cluster));
      }
    }
  }
}

}  // namespace

std::string spell_topology(const std::array<int, 3>& topology) {
  return std::to_string(topology[0]) + "x" + std::to_string(topology[1]) + "x" +
         std::to_string(topology[2]);
}

std::vector<std::string> validate(const RampConfig& c) {
  std::vector<std::string> problems;
  const auto& [groups, racks, servers] = c.topology;
  if (groups < 1 || racks < 1 || servers < 1) {
    problems.emplace_back("topology: every dimension must be at least 1");
  } else if (racks > groups) {
    problems.push_back("topology: " + std::to_string(racks) + " racks per group do not fit " +
                       std::to_string(groups) +
                       " communication groups (RAMP needs racks <= groups)");
  } else if (static_cast<long long>(groups) * racks > kMaxServers ||
             static_cast<long long>(groups) * racks * servers > kMaxServers) {
    problems.emplace_back("topology: more than 4096 servers");
  }
  if (c.num_channels != 1) {
    problems.emplace_back("num_channels: must be 1, the one that is simulated");
  }
  // Written so that NaN is a problem, too.
  for (const auto& [key, value] : {std::pair{"total_node_bandwidth", c.total_node_bandwidth},
                                   {"worker_memory", c.worker_memory}}) {
    if (!(value > 0 && value <= kMostBytes)) {
      problems.push_back(std::string(key) + ": must be > 0 and at most 1e24");
    }
  }
  for (const auto& [key, value] : {std::pair{"propagation_latency", c.propagation_latency},
                                   {"worker_io_latency", c.worker_io_latency}}) {
    if (!(value >= 0 && value <= kMostLatency)) {
      problems.push_back(std::string(key) + ": must be from 0 to 1e6");
    }
  }
  return problems;
}

int ServerSet::count() const {
  int total = 0;
  for (const std::uint64_t word : words()) total += std::popcount(word);
  return total;
}

bool Topology::has_block_shape(std::array<int, 3> shape, int pieces) {
  return !divisor_shapes(pieces, shape).empty();
}

std::size_t Topology::block_bytes(std::array<int, 3> shape, int max_pieces) {
  const auto places = [&shape](const Shape& block) {
    std::size_t product = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      product *= static_cast<std::size_t>(std::max(0, shape[i] - block[i] + 1));
    }
    return product;
  };
  std::size_t servers = 0;
  for (int pieces = 1; pieces <= std::min(max_pieces, env::num_servers(shape)); ++pieces) {
    if (pieces > 1 && pieces % 2 != 0) continue;
    std::size_t blocks = places({pieces, pieces, 1}) + places({pieces, 1, 1});
    for (const auto& block : divisor_shapes(pieces, shape)) blocks += places(block);
    servers += blocks * static_cast<std::size_t>(pieces);
  }
  return servers * sizeof(Server);
}

Topology::Topology(std::array<int, 3> shape, int max_pieces) : shape_(shape) {
  PACML_CHECK(max_pieces >= 1, "an op has at least one piece");
  const auto size = static_cast<std::size_t>(max_pieces) + 1;
  shape_exists_.resize(size, 0);
  blocks_.resize(size);
  masks_.resize(size);
  for (int pieces = 1; pieces <= max_pieces; ++pieces) {
    if (pieces > 1 && pieces % 2 != 0) continue;
    auto& blocks = blocks_[static_cast<std::size_t>(pieces)];
    const auto shapes = divisor_shapes(pieces, shape_);
    shape_exists_[static_cast<std::size_t>(pieces)] = shapes.empty() ? 0 : 1;
    if (pieces > num_servers()) continue;
    for (const auto& block : shapes) append_blocks(block, shape_, blocks);
    append_diagonals(pieces, shape_, blocks);
    append_blocks({pieces, 1, 1}, shape_, blocks);
    if (num_servers() > kWordBits) continue;
    for (std::size_t begin = 0; begin < blocks.size(); begin += static_cast<std::size_t>(pieces)) {
      std::uint64_t mask = 0;
      for (int j = 0; j < pieces; ++j) {
        mask |= std::uint64_t{1} << blocks[begin + static_cast<std::size_t>(j)];
      }
      masks_[static_cast<std::size_t>(pieces)].push_back(mask);
    }
  }
}

int Topology::first_free(int pieces, const ServerSet& occupied) const {
  const auto size = static_cast<std::size_t>(pieces);
  if (num_servers() <= kWordBits) {
    const std::uint64_t busy = occupied.words().front();
    const auto& masks = masks_[size];
    // Where the first one lies nothing predicts, so that a few are looked at before each branch.
    constexpr std::size_t kAtOnce = 4;
    std::size_t begin = 0;
    for (; begin + kAtOnce <= masks.size(); begin += kAtOnce) {
      unsigned free = 0;
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        free |= static_cast<unsigned>((masks[begin + i] & busy) == 0) << i;
      }
      if (free != 0) return static_cast<int>(begin) + std::countr_zero(free);
    }
    for (; begin < masks.size(); ++begin) {
      if ((masks[begin] & busy) == 0) return static_cast<int>(begin);
    }
    return -1;
  }
  const auto blocks = this->blocks(pieces);
  for (std::size_t begin = 0; begin < blocks.size(); begin += size) {
    const bool free = std::ranges::none_of(blocks.subspan(begin, size),
                                           [&](Server s) { return occupied.contains(s); });
    if (free) return static_cast<int>(begin / size);
  }
  return -1;
}

std::vector<std::vector<Server>> distinct_blocks(const Topology& topology, int pieces) {
  const auto size = static_cast<std::size_t>(pieces);
  const auto candidates = topology.blocks(pieces);
  std::vector<std::vector<Server>> blocks;
  std::set<std::vector<Server>> seen;
  for (std::size_t begin = 0; begin < candidates.size(); begin += size) {
    const auto candidate = candidates.subspan(begin, size);
    std::vector<Server> block(candidate.begin(), candidate.end());
    std::ranges::sort(block);
    if (seen.insert(block).second) blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace pacml::env

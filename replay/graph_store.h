#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/ids.h"
#include "common/wire/messages.h"

namespace pacml::replay {

// The graphs that stored transitions name, in the order of their arrival: a graph's index, which
// the rows hold, never changes. Thread-confined.
class GraphStore {
 public:
  // As many as a message may list.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;

  explicit GraphStore(std::size_t max_bytes = kMostBytes) : max_bytes_(max_bytes) {}

  [[nodiscard]] bool contains(GraphHash hash) const { return index_.contains(hash); }
  // Pre: contains(hash).
  [[nodiscard]] std::uint16_t index(GraphHash hash) const { return index_.at(hash); }
  // nullptr: not here.
  [[nodiscard]] const wire::Graph* find(GraphHash hash) const {
    const auto found = index_.find(hash);
    return found == index_.end() ? nullptr : &graphs_[found->second];
  }
  // False: its hash is not that of its content, or there are too many, or too large ones. One that
  // is there changes nothing.
  [[nodiscard]] bool add(wire::Graph graph);

  [[nodiscard]] const std::vector<wire::Graph>& graphs() const { return graphs_; }
  [[nodiscard]] const std::vector<GraphHash>& hashes() const { return hashes_; }

 private:
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;  // of all graphs
  std::vector<wire::Graph> graphs_;
  std::vector<GraphHash> hashes_;
  std::unordered_map<GraphHash, std::uint16_t> index_;
};

}  // namespace pacml::replay

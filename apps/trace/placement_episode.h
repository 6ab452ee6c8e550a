#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "apps/trace/placeto_network.h"
#include "env/placement/group_graph.h"
#include "env/placement/placement_simulator.h"

namespace pacml::apps {

// An episode of the published decision process: groups are visited in an order, again and again;
// the one that is visited goes to a device, and the whole is simulated. Nodes are groups in that
// order. Thread-confined.
class PlacementEpisode {
 public:
  // `order`: each group once. UserError: it is none, or there are more than 20 000 groups.
  PlacementEpisode(env::OpGraphPtr graph, const env::DeviceSetPtr& devices,
                   std::vector<std::int32_t> order);

  // With every node on a device. UserError: not so many.
  void begin(std::vector<std::int32_t> device);
  // Places the current node; the next one is current.
  void place(std::int32_t device);

  [[nodiscard]] std::size_t num_nodes() const { return order_.size(); }
  [[nodiscard]] std::size_t current() const { return current_; }
  // With nothing on more nodes parallel to it than `peers`; 0: all. `features` is borrowed: it
  // holds what the decision shows.
  [[nodiscard]] PlacetoNetwork::Decision decision(bool with_memory, int peers,
                                                  std::vector<float>& features) const;
  [[nodiscard]] const std::vector<env::GroupAttributes>& attributes() const { return attributes_; }
  [[nodiscard]] const env::IndexLists& children() const { return children_; }
  [[nodiscard]] const env::IndexLists& parents() const { return parents_; }
  [[nodiscard]] env::PlacementSimulator& simulator() { return simulator_; }

 private:
  void simulate();

  env::OpGraphPtr graph_;
  env::PlacementSimulator simulator_;
  std::vector<std::int32_t> order_;  // groups
  std::vector<env::GroupAttributes> attributes_;
  env::IndexLists children_;
  env::IndexLists parents_;
  std::unique_ptr<const env::Reachability> reachable_;
  std::vector<std::int32_t> device_;
  std::vector<int> visits_;
  std::vector<double> start_us_;
  std::size_t current_ = 0;
};

// A row a node: cost, bytes out, memory.
[[nodiscard]] nlohmann::json attributes_json(const PlacementEpisode& episode);

}  // namespace pacml::apps

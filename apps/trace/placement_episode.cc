#include "apps/trace/placement_episode.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/trace/placement_json.h"
#include "common/index.h"
#include "common/result.h"
#include "env/placement/placeto_mdp.h"

namespace pacml::apps {
namespace {

// What reaches what takes a bit for each pair.
constexpr std::size_t kMostNodes = 20'000;

}  // namespace

PlacementEpisode::PlacementEpisode(env::OpGraphPtr graph, const env::DeviceSetPtr& devices,
                                   std::vector<std::int32_t> order)
    : graph_(std::move(graph)), simulator_(graph_, devices), order_(std::move(order)) {
  const env::GroupGraph groups(*graph_, devices->semantics());
  const std::size_t nodes = groups.size();
  if (nodes > kMostNodes) {
    throw UserError("the graph has " + std::to_string(nodes) + " groups, more than the " +
                    std::to_string(kMostNodes) + " that an episode may visit");
  }
  std::vector<std::int32_t> position(nodes, -1);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    position[at(order_[i])] = static_cast<std::int32_t>(i);
  }
  if (order_.size() != nodes || std::ranges::find(position, -1) != position.end()) {
    throw UserError("order: expected each group once");
  }
  std::vector<std::vector<std::int32_t>> children(nodes);
  std::vector<std::vector<std::int32_t>> parents(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    attributes_.push_back(groups.attributes()[at(order_[i])]);
    for (const std::int32_t c : groups.children()[at(order_[i])]) {
      children[i].push_back(position[at(c)]);
      parents[at(position[at(c)])].push_back(static_cast<std::int32_t>(i));
    }
  }
  children_ = env::IndexLists(children);
  parents_ = env::IndexLists(parents);
  reachable_ = std::make_unique<const env::Reachability>(children_);
}

void PlacementEpisode::begin(std::vector<std::int32_t> device) {
  if (device.size() != order_.size()) throw UserError("initial: expected a device for each group");
  device_ = std::move(device);
  visits_.assign(order_.size(), 0);
  start_us_.resize(order_.size());
  current_ = 0;
  simulate();
}

void PlacementEpisode::place(std::int32_t device) {
  device_[current_] = device;
  ++visits_[current_];
  current_ = (current_ + 1) % order_.size();
  simulate();
}

void PlacementEpisode::simulate() {
  std::vector<std::int32_t> device_of(graph_->num_ops());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    for (const std::int32_t op : graph_->groups()[at(order_[i])]) device_of[at(op)] = device_[i];
  }
  static_cast<void>(simulator_.run(device_of));
  for (std::size_t i = 0; i < order_.size(); ++i) {
    start_us_[i] = simulator_.start_us()[at(graph_->groups()[at(order_[i])].front())];
  }
}

PlacetoNetwork::Decision PlacementEpisode::decision(bool with_memory, int peers,
                                                    std::vector<float>& features) const {
  features = env::placeto_features({.attributes = attributes_,
                                    .start_us = start_us_,
                                    .device = device_,
                                    .visits = visits_,
                                    .current = current_,
                                    .num_devices = simulator_.devices().size(),
                                    .with_memory = with_memory});
  PlacetoNetwork::Decision decision{.features = features, .node = current_};
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const bool is_above = reachable_->reaches(i, current_);
    const bool is_below = reachable_->reaches(current_, i);
    decision.ancestors.push_back(is_above ? 1 : 0);
    decision.descendants.push_back(is_below ? 1 : 0);
    decision.parallel.push_back(i != current_ && !is_above && !is_below ? 1 : 0);
  }
  decision.parallel = env::nearest_parallel(decision.parallel, start_us_, current_, peers);
  return decision;
}

nlohmann::json attributes_json(const PlacementEpisode& episode) {
  nlohmann::json rows = nlohmann::json::array();
  for (const env::GroupAttributes& a : episode.attributes()) {
    rows.push_back(byte_amounts(std::vector{a.cost_us, a.out_bytes, a.memory_bytes}));
  }
  return rows;
}

}  // namespace pacml::apps

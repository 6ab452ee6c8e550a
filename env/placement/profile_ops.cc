#include "env/placement/profile_ops.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/index.h"

namespace pacml::env {
namespace {

double microseconds(double milliseconds) { return std::nearbyint(milliseconds * 1000); }

// A profile's layers by id, with their neighbours by id.
struct Layers {
  explicit Layers(const Profile& profile)
      : layer(profile.ops.size()), parents(profile.ops.size()), children(profile.ops.size()) {
    for (const ForwardOp& op : profile.ops) layer[at(op.id - 1)] = &op;
    for (const auto& [producer, consumer] : profile.dependencies) {
      parents[at(consumer - 1)].push_back(producer - 1);
      children[at(producer - 1)].push_back(consumer - 1);
    }
    for (auto& list : parents) std::ranges::sort(list);
    for (auto& list : children) std::ranges::sort(list);
    order = fifo_topological_order(IndexLists(children));
    PACML_CHECK(order.size() == layer.size(), "a profile has no cycle");
  }
  std::vector<const ForwardOp*> layer;
  std::vector<std::vector<std::int32_t>> parents;
  std::vector<std::vector<std::int32_t>> children;
  std::vector<std::int32_t> order;
};

std::string name_of(std::size_t layer) { return "node" + std::to_string(layer + 1); }

}  // namespace

OpGraphSpec profile_ops(const Profile& profile, ProfilePass pass) {
  const Layers layers(profile);
  OpGraphSpec spec;
  std::vector<std::int32_t> forward(layers.layer.size());
  std::vector<std::int32_t> position(layers.layer.size());
  for (const std::int32_t v : layers.order) {
    const ForwardOp& op = *layers.layer[at(v)];
    const auto index = static_cast<std::int32_t>(spec.ops.size());
    position[at(v)] = forward[at(v)] = index;
    spec.ops.push_back({.name = name_of(at(v)),
                        .cost_us = microseconds(op.forward_time),
                        .output_bytes = {std::trunc(op.activation_bytes)},
                        .group = pass == ProfilePass::kBoth ? name_of(at(v)) : "",
                        .parameter_bytes = op.parameter_bytes});
    for (const std::int32_t p : layers.parents[at(v)]) {
      spec.edges.push_back({forward[at(p)], 0, index});
    }
  }
  if (pass == ProfilePass::kForward) return spec;

  std::vector<std::int32_t> backward(layers.layer.size());
  for (std::size_t i = layers.order.size(); i-- > 0;) {
    const std::size_t v = at(layers.order[i]);
    const auto index = static_cast<std::int32_t>(spec.ops.size());
    backward[v] = index;
    OpSpec op{.name = name_of(v) + "/b",
              .cost_us = microseconds(layers.layer[v]->backward_time),
              .output_bytes = {},
              .group = name_of(v)};
    for (const std::int32_t p : layers.parents[v]) {
      op.output_bytes.push_back(std::trunc(layers.layer[at(p)]->activation_bytes));
    }
    spec.ops.push_back(std::move(op));
    spec.edges.push_back({forward[v], 0, index});
    auto children = layers.children[v];
    std::ranges::sort(children, {}, [&](std::int32_t c) { return position[at(c)]; });
    for (const std::int32_t c : children) {
      const auto& of_child = layers.parents[at(c)];  // in order, and perhaps very many
      const auto slot =
          std::ranges::lower_bound(of_child, static_cast<std::int32_t>(v)) - of_child.begin();
      spec.edges.push_back({backward[at(c)], static_cast<std::int32_t>(slot), index});
    }
  }
  return spec;
}

}  // namespace pacml::env

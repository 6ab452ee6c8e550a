#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/encoders/encoder_config.h"

// The encoders of encoder_config.h, written down once: which layers there are, and what is done
// with them. Whoever computes them (plain loops, LibTorch, the fused kernel) brings the operations.
namespace pacml::model {

// At which end of its edges a node hears something.
enum class EdgeEnd { kPredecessors, kSuccessors };

// Nodes that are looked at together, by what they are to the one that a decision is about.
enum class NodeSet { kAncestors, kDescendants, kOthers, kAll };

// Linear and Norm: what the user of this knows a layer by.
template <class Linear, class Norm>
struct ResidualLayers {
  struct Messages {
    EdgeEnd from;
    Linear node;
    std::optional<Linear> edge;  // none where edges have no features
  };
  struct Block {
    Norm norm;
    Linear self;
    std::vector<Messages> messages;
    Linear output;
  };
  Linear input;
  std::vector<Block> blocks;
  Norm norm;
};

// kind: two_way.
template <class Linear>
struct TwoWayLayers {
  // What each is put through before the sum, and the sum.
  struct Sum {
    std::vector<Linear> term, total;
  };
  struct Pass {
    EdgeEnd from;
    Sum sum;
  };
  struct Pool {
    NodeSet set;
    Sum sum;
  };
  std::vector<Linear> base;
  int rounds = 0;
  std::vector<Pass> passes;
  std::vector<Pool> pools;
};

template <class Linear, class Norm>
using GraphEncoderLayers = std::variant<ResidualLayers<Linear, Norm>, TwoWayLayers<Linear>>;

[[nodiscard]] constexpr const char* name_of(EdgeEnd end) {
  return end == EdgeEnd::kPredecessors ? "predecessors" : "successors";
}

[[nodiscard]] constexpr const char* name_of(NodeSet set) {
  switch (set) {
    case NodeSet::kAncestors:
      return "ancestors";
    case NodeSet::kDescendants:
      return "descendants";
    case NodeSet::kOthers:
      return "others";
    case NodeSet::kAll:
      break;
  }
  return "all";
}

// `name`: of the slot's layers, with a dot behind it.
template <class Make>
auto make_residual_layers(Make& make, const SlotShape& slot, const std::string& name) {
  using Linear = decltype(make.linear(std::string(), 1, 1));
  using Norm = decltype(make.norm(std::string(), 1));
  using Layers = ResidualLayers<Linear, Norm>;
  const EncoderConfig& config = *slot.encoder;
  const int width = config.width;
  Layers layers;
  layers.input = make.linear(name + "input", slot.node_width + slot.dynamic_width, width);
  for (int b = 0; b < config.blocks; ++b) {
    const std::string block = name + "block" + std::to_string(b) + ".";
    typename Layers::Block made;
    made.norm = make.norm(block + "self_norm", width);
    made.self = make.linear(block + "self", width, width);
    if (config.kind == EncoderKind::kMessagePassing) {
      for (const EdgeEnd end : {EdgeEnd::kPredecessors, EdgeEnd::kSuccessors}) {
        const std::string from = block + name_of(end);
        typename Layers::Messages messages{end, make.linear(from, width, width), std::nullopt};
        if (slot.edge_width > 0) {
          messages.edge = make.product(from + "_edge", slot.edge_width, width);
        }
        made.messages.push_back(messages);
      }
    }
    made.output = make.linear(block + "output", width, width);
    layers.blocks.push_back(std::move(made));
  }
  layers.norm = make.norm(name + "output_norm", width);
  return layers;
}

template <class Make>
auto make_two_way_layers(Make& make, const SlotShape& slot, const std::string& name) {
  using Linear = decltype(make.linear(std::string(), 1, 1));
  using Layers = TwoWayLayers<Linear>;
  const auto stack = [&make](const std::string& of, int layers, int in, int out) {
    std::vector<Linear> made;
    for (int i = 0; i < layers; ++i) {
      made.push_back(make.linear(of + std::to_string(i), i == 0 ? in : out, out));
    }
    return made;
  };
  const auto sum = [&](const std::string& of, int width) {
    typename Layers::Sum made;
    made.term = stack(name + of + ".term", 2, width, width);
    made.total = stack(name + of + ".total", 2, width, width);
    return made;
  };
  const int width = slot.encoder->width;
  Layers layers;
  layers.rounds = slot.encoder->blocks;
  layers.base = stack(name + "base", 3, slot.node_width + slot.dynamic_width, width);
  for (const EdgeEnd end : {EdgeEnd::kPredecessors, EdgeEnd::kSuccessors}) {
    layers.passes.push_back({end, sum(name_of(end), width)});
  }
  const auto sets = slot.focus
                        ? std::vector{NodeSet::kAncestors, NodeSet::kDescendants, NodeSet::kOthers}
                        : std::vector{NodeSet::kAll};
  for (const NodeSet set : sets) layers.pools.push_back({set, sum(name_of(set), 2 * width)});
  return layers;
}

// Asks `make` for each layer, in the order of the layout: linear(name, in, out), product (without a
// bias) and norm(name, width). Pre: the slot has an encoder.
template <class Make>
auto make_graph_encoder(Make&& make, const SlotShape& slot) {
  using Layers = GraphEncoderLayers<decltype(make.linear(std::string(), 1, 1)),
                                    decltype(make.norm(std::string(), 1))>;
  const std::string name = "encoder." + slot.encoder->slot + ".";
  return slot.encoder->kind == EncoderKind::kTwoWay
             ? Layers(make_two_way_layers(make, slot, name))
             : Layers(make_residual_layers(make, slot, name));
}

template <class Ops, class Linear, class Norm>
auto embed_nodes(Ops& ops, const ResidualLayers<Linear, Norm>& layers) {
  auto h = ops.linear(layers.input, ops.inputs());
  for (const auto& block : layers.blocks) {
    const auto normed = ops.norm(block.norm, h);
    auto sum = ops.linear(block.self, normed);
    for (const auto& messages : block.messages) {
      const auto terms = ops.linear(messages.node, normed);
      sum = ops.add(std::move(sum), ops.mean_message(messages.from, terms, messages.edge));
    }
    h = ops.add(std::move(h), ops.linear(block.output, ops.relu(std::move(sum))));
  }
  return ops.norm(layers.norm, h);
}

// Layers with a relu behind each.
template <class Ops, class Linear, class Rows>
auto rectified_layers(Ops& ops, const std::vector<Linear>& layers, const Rows& rows) {
  auto out = ops.relu(ops.linear(layers.front(), rows));
  for (std::size_t i = 1; i < layers.size(); ++i) out = ops.relu(ops.linear(layers[i], out));
  return out;
}

template <class Ops, class Linear>
auto embed_nodes(Ops& ops, const TwoWayLayers<Linear>& layers) {
  auto base = ops.linear(layers.base.front(), ops.inputs());
  for (std::size_t i = 1; i < layers.base.size(); ++i) {
    base = ops.linear(layers.base[i], ops.relu(std::move(base)));
  }
  const auto run = [&](const auto& pass) {
    auto x = base;
    for (int round = 0; round < layers.rounds; ++round) {
      const auto heard = ops.sum_messages(pass.from, rectified_layers(ops, pass.sum.term, x));
      auto change = rectified_layers(ops, pass.sum.total, heard);
      x = ops.add(ops.where_heard(pass.from, std::move(change)), base);
    }
    return x;
  };
  const auto along = run(layers.passes.front());
  return ops.join(along, run(layers.passes.back()));
}

// Node embeddings [nodes, slot.embedding_width()]. `ops` computes on rows, one a node. Those
// that it is given by && are its own: what it answers may lie where they did.
//   inputs()                       x_v
//   linear(layer, rows)            norm(layer, rows)            relu(rows&&)     add(rows&&, rows)
//   mean_message(end, rows, edge)  mean over v's edges at that end of relu(row of its other node +
//                                  edge layer of the edge's features), zero without such edges
//   sum_messages(end, rows)        sum over v's edges at that end of the row of its other node
//   where_heard(end, rows&&)       zero where v has no edges at that end
//   join(rows, rows)               side by side
template <class Ops, class Layers>
auto run_graph_encoder(Ops& ops, const Layers& layers) {
  return std::visit([&](const auto& of_kind) { return embed_nodes(ops, of_kind); }, layers);
}

template <class Ops, class Linear, class Norm, class Rows>
auto look_around(Ops& ops, const ResidualLayers<Linear, Norm>& /*layers*/, const Rows& nodes) {
  return ops.mean_and_maximum(nodes);
}

template <class Ops, class Linear, class Rows>
auto look_around(Ops& ops, const TwoWayLayers<Linear>& layers, const Rows& nodes) {
  const auto pooled = [&](const auto& pool) {
    const auto sum = ops.sum_of(pool.set, rectified_layers(ops, pool.sum.term, nodes));
    return rectified_layers(ops, pool.sum.total, sum);
  };
  auto out = pooled(layers.pools.front());
  for (std::size_t p = 1; p < layers.pools.size(); ++p) {
    out = ops.join(out, pooled(layers.pools[p]));
  }
  return out;
}

// What the rest of the network reads of a decision's graph, [decisions, slot.context_width()], of
// its node embeddings. `ops` computes on rows, one a decision, too: linear, relu and join, and
//   mean_and_maximum(nodes)        of all nodes of the decision's graph
//   sum_of(set, nodes)             of those in the set
//   focus(nodes)                   the node that it is about
template <class Ops, class Layers, class Rows>
auto run_graph_context(Ops& ops, const Layers& layers, const Rows& nodes, bool has_focus) {
  auto out =
      std::visit([&](const auto& of_kind) { return look_around(ops, of_kind, nodes); }, layers);
  return has_focus ? ops.join(out, ops.focus(nodes)) : out;
}

}  // namespace pacml::model

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/encoders/encoder_config.h"

// The encoders of encoder_config.h, written down once: which layers there are, and what is done
// with them. Whoever computes them (plain loops, LibTorch, the fused kernel) brings the operations.
namespace pacml::model {

// At which end of its edges a node hears something.
enum class EdgeEnd { kPredecessors, kSuccessors };

// Linear and Norm: what the user of this knows a layer by.
template <class Linear, class Norm>
struct GraphEncoderLayers {
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

// Asks `make` for each layer, in the order of the layout: linear(name, in, out), product (without a
// bias) and norm(name, width). Pre: the slot has an encoder.
template <class Make>
auto make_graph_encoder(Make&& make, const SlotShape& slot) {
  using Linear = decltype(make.linear(std::string(), 1, 1));
  using Norm = decltype(make.norm(std::string(), 1));
  using Layers = GraphEncoderLayers<Linear, Norm>;
  const EncoderConfig& config = *slot.encoder;
  const std::string name = "encoder." + config.slot + ".";
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
        const std::string from =
            block + (end == EdgeEnd::kPredecessors ? "predecessors" : "successors");
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

// Node embeddings [nodes, width]. `ops` computes on rows, one a node, which it may keep in the
// memory of the first argument:
//   inputs()                       x_v
//   linear(layer, rows)            norm(layer, rows)            relu(rows)         add(rows, rows)
//   mean_message(end, rows, edge)  mean over v's edges at that end of relu(row of its other node +
//                                  edge layer of the edge's features), zero without such edges
template <class Ops, class Layers>
auto run_graph_encoder(Ops& ops, const Layers& layers) {
  auto h = ops.linear(layers.input, ops.inputs());
  for (const auto& block : layers.blocks) {
    const auto normed = ops.norm(block.norm, h);
    auto sum = ops.linear(block.self, normed);
    for (const auto& messages : block.messages) {
      const auto terms = ops.linear(messages.node, normed);
      sum = ops.add(sum, ops.mean_message(messages.from, terms, messages.edge));
    }
    h = ops.add(h, ops.linear(block.output, ops.relu(sum)));
  }
  return ops.norm(layers.norm, h);
}

}  // namespace pacml::model

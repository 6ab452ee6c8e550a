#include "learner/export/tensor_program.h"

#include <optional>
#include <utility>

#include "learner/export/policy_inputs.h"
#include "model/encoders/graph_encoder.h"

namespace pacml::learner {
namespace {

using Name = std::string;

// Writes operations down; each call returns the name of its result.
class Writer {
 public:
  Name add(TensorOp op, std::vector<Name> operands, std::int64_t number = 0) {
    return add_as("t" + std::to_string(program_.size()), op, std::move(operands), number);
  }
  Name add_as(Name result, TensorOp op, std::vector<Name> operands, std::int64_t number = 0) {
    program_.push_back({op, std::move(operands), result, number});
    return result;
  }

  // A layer by its name in the layout.
  Name linear(const Name& layer, const Name& rows) {
    return add(TensorOp::kLinear, {rows, layer + ".weight", layer + ".bias"});
  }
  Name product(const Name& layer, const Name& rows) {
    return add(TensorOp::kLinear, {rows, layer + ".weight"});
  }
  Name norm(const Name& layer, const Name& rows) {
    return add(TensorOp::kNorm, {rows, layer + ".weight", layer + ".bias"});
  }
  Name relu(const Name& rows) { return add(TensorOp::kRelu, {rows}); }
  // Of one row: itself.
  Name concat(std::vector<Name> rows) {
    return rows.size() == 1 ? rows.front() : add(TensorOp::kConcat, std::move(rows));
  }
  Name take(const Name& rows, const Name& indices) { return add(TensorOp::kTake, {rows, indices}); }
  Name group_sum(const Name& rows, const Name& group, const Name& like) {
    return add(TensorOp::kGroupSum, {rows, group, like});
  }
  // [groups, 1]
  Name group_size(const Name& group, const Name& like) {
    return group_sum(add(TensorOp::kOnes, {group}), group, like);
  }
  Name scale(const Name& rows, const Name& column) {
    return add(TensorOp::kMultiply, {rows, column});
  }
  Name group_mean(const Name& rows, const Name& group, const Name& like) {
    return scale(group_sum(rows, group, like),
                 add(TensorOp::kReciprocal, {group_size(group, like)}));
  }
  Name group_max(const Name& rows, const Name& group, const Name& like) {
    return add(TensorOp::kGroupMax, {rows, group, like});
  }

  [[nodiscard]] std::vector<TensorOperation> finish() && { return std::move(program_); }

 private:
  std::vector<TensorOperation> program_;
};

std::vector<TensorOperation> dense_program(const model::NetworkShape& shape) {
  Writer w;
  const auto layer = [&w](const Name& name, const Name& rows) {
    return w.linear(name, w.norm(name + "_norm", rows));
  };
  const Name in_degree = w.group_size("edge_dst", "node_features");
  const Name message_mean =
      w.scale(w.add(TensorOp::kPositive, {in_degree}),
              w.add(TensorOp::kReciprocal, {w.add(TensorOp::kIncrement, {in_degree})}));
  Name x = "node_features";
  for (int r = 0; r < shape.config.rounds; ++r) {
    const Name round = "round" + std::to_string(r) + ".";
    const Name node_half = w.relu(layer(round + "node", x));
    const Name edge_half = w.relu(layer(round + "edge", "edge_features"));
    const auto reduced = [&](const Name& messages) {
      return w.relu(layer(round + "reduce", messages));
    };
    const Name along_edges = reduced(w.concat({w.take(node_half, "edge_src"), edge_half}));
    const Name to_self =
        reduced(w.add(TensorOp::kPad, {node_half}, shape.config.message_width / 2));
    const Name heard = w.group_sum(along_edges, "edge_dst", "node_features");
    x = w.scale(w.add(TensorOp::kAdd, {heard, to_self}), message_mean);
  }
  const Name embedding = w.group_mean(x, "node_graph", "mask");
  std::vector<Name> seen;
  if (shape.globals > 0) seen.emplace_back("globals");
  seen.push_back(w.add(TensorOp::kToFloat, {"mask"}));
  const Name decision = layer("graph", w.concat(std::move(seen)));
  const Name hidden = w.relu(w.linear("readout", w.concat({embedding, decision})));
  w.add_as("logits", TensorOp::kMask, {w.linear("logits", hidden), "mask"});
  w.add_as("values", TensorOp::kSqueeze, {w.linear("value", hidden)});
  return std::move(w).finish();
}

// A slot's encoder: the operations that model/encoders/graph_encoder.h asks for.
class EncoderWriter {
 public:
  EncoderWriter(Writer& writer, const SlotInputNames& names, const model::SlotShape& slot)
      : w_(writer), names_(names) {
    inputs_ = w_.add(TensorOp::kSquash, {names.node_features});
    if (slot.encoder->kind != model::EncoderKind::kMessagePassing) return;
    if (slot.edge_width > 0) edges_ = w_.add(TensorOp::kSquash, {names.edge_features});
    for (const Name& heard_at : {names.edge_dst, names.edge_src}) {
      shares_.push_back(
          w_.add(TensorOp::kReciprocal, {w_.group_size(heard_at, names.node_features)}));
    }
  }

  [[nodiscard]] const Name& inputs() const { return inputs_; }
  Name linear(const Name& layer, const Name& rows) { return w_.linear(layer, rows); }
  Name norm(const Name& layer, const Name& rows) { return w_.norm(layer, rows); }
  Name relu(const Name& rows) { return w_.relu(rows); }
  Name add(const Name& rows, const Name& others) { return w_.add(TensorOp::kAdd, {rows, others}); }
  Name mean_message(model::EdgeEnd end, const Name& rows, const std::optional<Name>& edge_layer) {
    const bool before = end == model::EdgeEnd::kPredecessors;
    Name said = w_.take(rows, before ? names_.edge_src : names_.edge_dst);
    if (edge_layer) said = add(said, w_.product(*edge_layer, edges_));
    const Name heard = w_.group_sum(relu(said), before ? names_.edge_dst : names_.edge_src, rows);
    return w_.scale(heard, shares_[before ? 0 : 1]);
  }

 private:
  Writer& w_;
  const SlotInputNames& names_;
  Name inputs_;
  Name edges_;
  std::vector<Name> shares_;  // of predecessors and successors: 1 / how many there are
};

// Layers by their names.
struct LayerNames {
  [[nodiscard]] static Name linear(const Name& name, int /*in*/, int /*out*/) { return name; }
  [[nodiscard]] static Name product(const Name& name, int /*in*/, int /*out*/) { return name; }
  [[nodiscard]] static Name norm(const Name& name, int /*width*/) { return name; }
};

std::vector<TensorOperation> candidates_program(const model::NetworkShape& shape) {
  Writer w;
  std::vector<Name> context;
  std::vector<Name> features;
  if (shape.view->width() > 0) features.emplace_back("candidate_features");
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    if (!shape.slots[slot].encoder) continue;
    const SlotInputNames names = slot_input_names(shape.slots[slot]);
    EncoderWriter encoder(w, names, shape.slots[slot]);
    const auto layers = model::make_graph_encoder(LayerNames(), shape.slots[slot]);
    const Name nodes = model::run_graph_encoder(encoder, layers);
    context.push_back(w.group_mean(nodes, names.node_decision, "situation"));
    context.push_back(w.group_max(nodes, names.node_decision, "situation"));
    if (shape.slots[slot].focus) context.push_back(w.take(nodes, names.focus));
    if (shape.node_slot == slot) features.push_back(w.take(nodes, "candidate_node"));
  }
  if (shape.agents > 1) context.push_back(w.add(TensorOp::kOneHot, {"agent"}, shape.agents));
  std::vector<Name> situation;
  if (!shape.view->situation().empty() || context.empty()) situation.emplace_back("situation");
  if (!context.empty()) {
    const Name common = w.concat(std::move(context));
    features.push_back(w.take(common, "candidate_decision"));
    situation.push_back(common);
  }
  const Name candidates =
      w.relu(w.linear("second", w.relu(w.linear("first", w.concat(std::move(features))))));
  w.add_as("logits", TensorOp::kSqueeze, {w.product("logits", candidates)});
  const Name seen = w.concat({w.relu(w.linear("situation", w.concat(std::move(situation)))),
                              w.group_mean(candidates, "candidate_decision", "situation"),
                              w.group_max(candidates, "candidate_decision", "situation")});
  w.add_as("values", TensorOp::kSqueeze, {w.linear("value", w.relu(w.linear("state", seen)))});
  return std::move(w).finish();
}

}  // namespace

std::vector<TensorOperation> tensor_program(const model::NetworkShape& shape) {
  return shape.config.head == model::HeadKind::kDense ? dense_program(shape)
                                                      : candidates_program(shape);
}

}  // namespace pacml::learner

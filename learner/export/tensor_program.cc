#include "learner/export/tensor_program.h"

#include <optional>
#include <utility>

#include "common/check.h"
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
  // `decisions`: a tensor with a row for each.
  EncoderWriter(Writer& writer, const SlotInputNames& names, const model::SlotShape& slot,
                Name decisions)
      : w_(writer), names_(names), decisions_(std::move(decisions)) {
    const model::EncoderKind kind = slot.encoder->kind;
    inputs_ = model::squashes(kind) ? w_.add(TensorOp::kSquash, {names.node_features})
                                    : names.node_features;
    if (!model::reads_edges(kind)) return;
    const bool is_mean = kind == model::EncoderKind::kMessagePassing;
    if (is_mean && slot.edge_width > 0) edges_ = w_.add(TensorOp::kSquash, {names.edge_features});
    for (const Name& heard_at : {names.edge_dst, names.edge_src}) {
      shares_.push_back(w_.add(is_mean ? TensorOp::kReciprocal : TensorOp::kPositive,
                               {w_.group_size(heard_at, names.node_features)}));
    }
  }

  [[nodiscard]] const Name& inputs() const { return inputs_; }
  Name linear(const Name& layer, const Name& rows) { return w_.linear(layer, rows); }
  Name norm(const Name& layer, const Name& rows) { return w_.norm(layer, rows); }
  Name relu(const Name& rows) { return w_.relu(rows); }
  Name add(const Name& rows, const Name& others) { return w_.add(TensorOp::kAdd, {rows, others}); }
  Name mean_message(model::EdgeEnd end, const Name& rows, const std::optional<Name>& edge_layer) {
    Name said = w_.take(rows, said_at(end));
    if (edge_layer) said = add(said, w_.product(*edge_layer, edges_));
    return w_.scale(w_.group_sum(relu(said), heard_at(end), rows), share_at(end));
  }
  Name sum_messages(model::EdgeEnd end, const Name& rows) {
    return w_.group_sum(w_.take(rows, said_at(end)), heard_at(end), rows);
  }
  Name where_heard(model::EdgeEnd end, const Name& rows) { return w_.scale(rows, share_at(end)); }
  Name join(const Name& rows, const Name& others) { return w_.concat({rows, others}); }
  Name mean_and_maximum(const Name& nodes) {
    return join(w_.group_mean(nodes, names_.node_decision, decisions_),
                w_.group_max(nodes, names_.node_decision, decisions_));
  }
  Name sum_of(model::NodeSet set, const Name& nodes) {
    const bool all = set == model::NodeSet::kAll;
    return w_.group_sum(all ? nodes : w_.scale(nodes, names_.members(set)), names_.node_decision,
                        decisions_);
  }
  Name focus(const Name& nodes) { return w_.take(nodes, names_.focus); }

 private:
  [[nodiscard]] const Name& said_at(model::EdgeEnd end) const {
    return end == model::EdgeEnd::kPredecessors ? names_.edge_src : names_.edge_dst;
  }
  [[nodiscard]] const Name& heard_at(model::EdgeEnd end) const {
    return end == model::EdgeEnd::kPredecessors ? names_.edge_dst : names_.edge_src;
  }
  [[nodiscard]] const Name& share_at(model::EdgeEnd end) const {
    return shares_[static_cast<std::size_t>(end)];
  }

  Writer& w_;
  const SlotInputNames& names_;
  Name decisions_;
  Name inputs_;
  Name edges_;
  // By EdgeEnd, a column: 1 / how many are heard there, 0 without any; of sums 1 instead of that.
  std::vector<Name> shares_;
};

// Layers by their names.
struct LayerNames {
  [[nodiscard]] static Name linear(const Name& name, int /*in*/, int /*out*/) { return name; }
  [[nodiscard]] static Name product(const Name& name, int /*in*/, int /*out*/) { return name; }
  [[nodiscard]] static Name norm(const Name& name, int /*width*/) { return name; }
};

// What heads read of a decision's graphs.
struct ContextNames {
  std::vector<Name> parts;    // side by side: of every encoder, then who decides
  std::optional<Name> nodes;  // of the slot whose nodes the candidates are
};
// `decisions`: as EncoderWriter's.
ContextNames write_context(Writer& w, const model::NetworkShape& shape, const Name& decisions) {
  ContextNames out;
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    if (!shape.slots[slot].encoder) continue;
    const SlotInputNames names = slot_input_names(shape.slots[slot]);
    EncoderWriter encoder(w, names, shape.slots[slot], decisions);
    const auto layers = model::make_graph_encoder(LayerNames(), shape.slots[slot]);
    const Name nodes = model::run_graph_encoder(encoder, layers);
    out.parts.push_back(model::run_graph_context(encoder, layers, nodes, shape.slots[slot].focus));
    if (shape.node_slot == slot) out.nodes = nodes;
  }
  if (shape.known_agents() > 0) {
    out.parts.push_back(w.add(TensorOp::kOneHot, {"agent"}, shape.known_agents()));
  }
  return out;
}

std::vector<TensorOperation> perceptron_program(const model::NetworkShape& shape) {
  Writer w;
  std::vector<Name> seen = write_context(w, shape, "mask").parts;
  if (shape.globals > 0) seen.insert(seen.begin(), "globals");
  const Name hidden =
      w.relu(w.linear("second", w.relu(w.linear("first", w.concat(std::move(seen))))));
  w.add_as("logits", TensorOp::kMask, {w.linear("logits", hidden), "mask"});
  w.add_as("values", TensorOp::kSqueeze, {w.linear("value", hidden)});
  return std::move(w).finish();
}

std::vector<TensorOperation> candidates_program(const model::NetworkShape& shape) {
  Writer w;
  auto [context, nodes] = write_context(w, shape, "situation");
  std::vector<Name> features;
  if (shape.view->width() > 0) features.emplace_back("candidate_features");
  if (nodes) features.push_back(w.take(*nodes, "candidate_node"));
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
  switch (shape.config.head) {
    case model::HeadKind::kDense:
      return dense_program(shape);
    case model::HeadKind::kCandidates:
      return candidates_program(shape);
    case model::HeadKind::kPerceptron:
      return perceptron_program(shape);
  }
  PACML_CHECK(false, "a kind of head");
}

}  // namespace pacml::learner

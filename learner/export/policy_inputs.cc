#include "learner/export/policy_inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/check.h"
#include "common/json_text.h"
#include "model/encoders/relatives.h"

namespace pacml::learner {
namespace {

using Type = PolicyInput::Type;

std::vector<FeatureSpec> copy(std::span<const FeatureSpec> columns) {
  return {columns.begin(), columns.end()};
}

// Whose nodes are told apart by what they are to the focus.
constexpr std::array kRelatives{model::NodeSet::kAncestors, model::NodeSet::kDescendants,
                                model::NodeSet::kOthers};
bool reads_relatives(const model::SlotShape& slot) {
  return slot.focus && slot.encoder->kind == model::EncoderKind::kTwoWay;
}
bool reads_edge_features(const model::SlotShape& slot) {
  return slot.edge_width > 0 && model::reads_edge_features(slot.encoder->kind);
}

std::vector<PolicyInput> dense_inputs(const model::NetworkShape& shape,
                                      std::span<const FeatureSpec> globals) {
  const auto width = [](int columns) { return static_cast<std::size_t>(columns); };
  return {{"node_features", Type::kFloat, "nodes", width(shape.graph().node_width)},
          {"edge_features", Type::kFloat, "edges", width(shape.graph().edge_width)},
          {"edge_src", Type::kIndex, "edges"},
          {"edge_dst", Type::kIndex, "edges"},
          {"node_graph", Type::kIndex, "nodes"},
          {"globals", Type::kFloat, "decisions", width(shape.globals), copy(globals)},
          {"mask", Type::kFlag, "decisions", width(shape.actions)}};
}

void add_slot_inputs(const model::SlotShape& slot, std::vector<PolicyInput>& out) {
  const SlotInputNames names = slot_input_names(slot);
  const std::string nodes = slot.encoder->slot + " nodes";
  const std::string edges = slot.encoder->slot + " edges";
  out.push_back({names.node_features, Type::kFloat, nodes,
                 static_cast<std::size_t>(slot.node_width + slot.dynamic_width)});
  out.push_back({names.node_decision, Type::kIndex, nodes});
  if (reads_edge_features(slot)) {
    out.push_back(
        {names.edge_features, Type::kFloat, edges, static_cast<std::size_t>(slot.edge_width)});
  }
  if (model::reads_edges(slot.encoder->kind)) {
    out.push_back({names.edge_src, Type::kIndex, edges});
    out.push_back({names.edge_dst, Type::kIndex, edges});
  }
  if (slot.focus) out.push_back({names.focus, Type::kIndex, "decisions"});
  if (!reads_relatives(slot)) return;
  for (const model::NodeSet set : kRelatives) {
    out.push_back({names.members(set), Type::kFloat, nodes, 1});
  }
}

// Behind a head's own inputs.
void add_context_inputs(const model::NetworkShape& shape, std::vector<PolicyInput>& out) {
  for (const model::SlotShape& slot : shape.slots) {
    if (slot.encoder) add_slot_inputs(slot, out);
  }
  if (shape.node_embedding_width() > 0) {
    out.push_back({"candidate_node", Type::kIndex, "candidates"});
  }
  if (shape.known_agents() > 0) out.push_back({"agent", Type::kIndex, "decisions"});
}

std::vector<PolicyInput> candidates_inputs(const model::NetworkShape& shape) {
  const env::CandidateView& view = *shape.view;
  std::vector<PolicyInput> out = {
      {"candidate_features", Type::kFloat, "candidates", view.width(), copy(view.features())},
      {"candidate_decision", Type::kIndex, "candidates"},
      {"situation", Type::kFloat, "decisions", view.situation().size(), copy(view.situation())}};
  add_context_inputs(shape, out);
  return out;
}

std::vector<PolicyInput> perceptron_inputs(const model::NetworkShape& shape,
                                           std::span<const FeatureSpec> globals) {
  std::vector<PolicyInput> out;
  if (shape.globals > 0) {
    out.push_back({"globals", Type::kFloat, "decisions", static_cast<std::size_t>(shape.globals),
                   copy(globals)});
  }
  out.push_back({"mask", Type::kFlag, "decisions", static_cast<std::size_t>(shape.actions)});
  add_context_inputs(shape, out);
  return out;
}

// Graphs of a slot one after another, one a decision.
struct GraphColumns {
  explicit GraphColumns(const model::SlotShape& shape) : slot(shape) {}

  void append(const env::GraphFeatures& graph, std::span<const float> dynamic,
              std::int64_t decision) {
    const auto first = static_cast<std::int64_t>(node_decision.size());
    first_node.push_back(first);
    const auto fixed = static_cast<std::size_t>(slot.node_width);
    const auto changing = static_cast<std::size_t>(slot.dynamic_width);
    for (std::size_t v = 0; v < static_cast<std::size_t>(graph.num_nodes); ++v) {
      const auto own = std::span(graph.node_features).subspan(v * fixed, fixed);
      node_features.insert(node_features.end(), own.begin(), own.end());
      const auto shown = dynamic.subspan(v * changing, changing);
      node_features.insert(node_features.end(), shown.begin(), shown.end());
      node_decision.push_back(decision);
    }
    edge_features.insert(edge_features.end(), graph.edge_features.begin(),
                         graph.edge_features.end());
    for (const std::int32_t node : graph.edge_src) edge_src.push_back(first + node);
    for (const std::int32_t node : graph.edge_dst) edge_dst.push_back(first + node);
  }

  const model::SlotShape& slot;
  std::vector<float> node_features;
  std::vector<std::int64_t> node_decision;
  std::vector<float> edge_features;
  std::vector<std::int64_t> edge_src;
  std::vector<std::int64_t> edge_dst;
  std::vector<std::int64_t> first_node;  // of each decision
};

GraphColumns slot_columns(const model::NetworkShape& shape, std::size_t slot,
                          std::span<const env::GraphFeaturesPtr> graphs,
                          const Observations& batch) {
  GraphColumns out(shape.slots[slot]);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    out.append(*graphs[batch.graph(b, slot)], batch.node_features(b, slot),
               static_cast<std::int64_t>(b));
  }
  return out;
}

InputValues matrix(std::size_t rows, std::vector<float> values) {
  return {rows, std::move(values), {}};
}
InputValues vector(std::vector<std::int64_t> values) {
  return {values.size(), {}, std::move(values)};
}

std::vector<InputValues> dense_values(const model::NetworkShape& shape,
                                      std::span<const env::GraphFeaturesPtr> graphs,
                                      const Observations& batch) {
  GraphColumns graph = slot_columns(shape, 0, graphs, batch);
  const auto globals = batch.globals();
  const auto masks = batch.masks();
  return {matrix(graph.node_decision.size(), std::move(graph.node_features)),
          matrix(graph.edge_src.size(), std::move(graph.edge_features)),
          vector(std::move(graph.edge_src)),
          vector(std::move(graph.edge_dst)),
          vector(std::move(graph.node_decision)),
          matrix(batch.size(), {globals.begin(), globals.end()}),
          {batch.size(), {}, {masks.begin(), masks.end()}}};
}

// A column for each of kRelatives, of all nodes of a slot.
void add_relatives(std::span<const env::GraphFeaturesPtr> graphs, const Observations& batch,
                   std::size_t slot, const GraphColumns& columns, std::vector<InputValues>& out) {
  for (const model::NodeSet set : kRelatives) {
    const std::size_t nodes = columns.node_decision.size();
    std::vector<float> column(nodes, 0.0F);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const model::Ancestry ancestry(*graphs[batch.graph(b, slot)]);
      const model::Relatives relatives = ancestry.of(batch.focus(b, slot));
      for (const std::int32_t v : relatives.in(set)) {
        column[static_cast<std::size_t>(columns.first_node[b] + v)] = 1.0F;
      }
    }
    out.push_back(matrix(nodes, std::move(column)));
  }
}

void add_slot_values(const model::SlotShape& read, std::size_t slot,
                     std::span<const env::GraphFeaturesPtr> graphs, const Observations& batch,
                     GraphColumns& graph, std::vector<InputValues>& out) {
  out.push_back(matrix(graph.node_decision.size(), std::move(graph.node_features)));
  out.push_back(vector(graph.node_decision));
  if (reads_edge_features(read)) {
    out.push_back(matrix(graph.edge_src.size(), std::move(graph.edge_features)));
  }
  if (model::reads_edges(read.encoder->kind)) {
    out.push_back(vector(std::move(graph.edge_src)));
    out.push_back(vector(std::move(graph.edge_dst)));
  }
  if (read.focus) {
    std::vector<std::int64_t> focus;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      focus.push_back(graph.first_node[b] + batch.focus(b, slot));
    }
    out.push_back(vector(std::move(focus)));
  }
  if (reads_relatives(read)) add_relatives(graphs, batch, slot, graph, out);
}

// As add_context_inputs().
void add_context_values(const model::NetworkShape& shape,
                        std::span<const env::GraphFeaturesPtr> graphs, const Observations& batch,
                        std::vector<InputValues>& out) {
  std::vector<std::int64_t> candidate_nodes;
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    const model::SlotShape& read = shape.slots[slot];
    if (!read.encoder) continue;
    GraphColumns graph = slot_columns(shape, slot, graphs, batch);
    add_slot_values(read, slot, graphs, batch, graph, out);
    if (shape.node_slot != slot) continue;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
        if (batch.mask(b)[a] == 0) continue;
        candidate_nodes.push_back(graph.first_node[b] + batch.candidate_nodes(b)[a]);
      }
    }
  }
  if (shape.node_embedding_width() > 0) out.push_back(vector(std::move(candidate_nodes)));
  if (shape.known_agents() > 0) {
    std::vector<std::int64_t> agents;
    for (std::size_t b = 0; b < batch.size(); ++b) agents.push_back(batch.agent(b));
    out.push_back(vector(std::move(agents)));
  }
}

std::vector<InputValues> candidates_values(const model::NetworkShape& shape,
                                           std::span<const env::GraphFeaturesPtr> graphs,
                                           const Observations& batch) {
  const auto reader = shape.view->make_reader();
  reader->set_graphs(graphs);
  const std::size_t width = shape.view->width();
  const std::size_t common = shape.view->situation().size();
  std::vector<float> features;
  std::vector<float> situations(batch.size() * common);
  std::vector<std::int64_t> decisions;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const std::size_t begin = features.size();
    features.resize(begin + batch.mask(b).size() * width);
    const std::size_t count =
        reader->read(batch, b, features.data() + begin, width, situations.data() + b * common);
    PACML_CHECK(count > 0, "a decision with a valid candidate");
    features.resize(begin + count * width);
    decisions.insert(decisions.end(), count, static_cast<std::int64_t>(b));
  }
  std::vector<InputValues> out;
  out.push_back(matrix(decisions.size(), std::move(features)));
  out.push_back(vector(std::move(decisions)));
  out.push_back(matrix(batch.size(), std::move(situations)));
  add_context_values(shape, graphs, batch, out);
  return out;
}

std::vector<InputValues> perceptron_values(const model::NetworkShape& shape,
                                           std::span<const env::GraphFeaturesPtr> graphs,
                                           const Observations& batch) {
  std::vector<InputValues> out;
  if (shape.globals > 0) {
    out.push_back(matrix(batch.size(), {batch.globals().begin(), batch.globals().end()}));
  }
  out.push_back({batch.size(), {}, {batch.masks().begin(), batch.masks().end()}});
  add_context_values(shape, graphs, batch, out);
  return out;
}

const char* type_name(Type type) {
  switch (type) {
    case Type::kFloat:
      return "float32";
    case Type::kIndex:
      return "int64";
    case Type::kFlag:
      return "bool";
  }
  PACML_CHECK(false, "a type of an input");
}

}  // namespace

std::vector<PolicyInput> policy_inputs(const model::NetworkShape& shape,
                                       std::span<const FeatureSpec> globals) {
  switch (shape.config.head) {
    case model::HeadKind::kDense:
      return dense_inputs(shape, globals);
    case model::HeadKind::kCandidates:
      return candidates_inputs(shape);
    case model::HeadKind::kPerceptron:
      return perceptron_inputs(shape, globals);
  }
  PACML_CHECK(false, "a kind of head");
}

SlotInputNames slot_input_names(const model::SlotShape& slot) {
  std::string name = slot.encoder->slot;  // as a part of an argument's name
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return {name + "_node_features", name + "_node_decision", name + "_edge_features",
          name + "_edge_src",      name + "_edge_dst",      name + "_focus",
          name + "_ancestors",     name + "_descendants",   name + "_others"};
}

const std::string& SlotInputNames::members(model::NodeSet set) const {
  PACML_CHECK(set != model::NodeSet::kAll, "a set that depends on a node");
  return set == model::NodeSet::kAncestors     ? ancestors
         : set == model::NodeSet::kDescendants ? descendants
                                               : others;
}

std::string describe(std::span<const PolicyInput> inputs) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const PolicyInput& input : inputs) {
    auto& described = out.emplace_back();
    described["name"] = input.name;
    described["type"] = type_name(input.type);
    described["rows"] = input.rows;
    if (input.type == Type::kIndex) continue;
    described["width"] = input.width;
    for (const FeatureSpec& column : input.columns) {
      described["columns"].push_back({{"name", column.name}, {"unit", column.unit}});
    }
  }
  return json_text(out);
}

std::vector<InputValues> input_values(const model::NetworkShape& shape,
                                      std::span<const env::GraphFeaturesPtr> graphs,
                                      const Observations& batch) {
  PACML_CHECK(batch.size() > 0 && batch.shape() == model::input_shape(shape),
              "a batch of the network's observation space");
  switch (shape.config.head) {
    case model::HeadKind::kDense:
      return dense_values(shape, graphs, batch);
    case model::HeadKind::kCandidates:
      return candidates_values(shape, graphs, batch);
    case model::HeadKind::kPerceptron:
      return perceptron_values(shape, graphs, batch);
  }
  PACML_CHECK(false, "a kind of head");
}

}  // namespace pacml::learner

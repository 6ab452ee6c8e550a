#include "learner/export/policy_inputs.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/check.h"

namespace pacml::learner {
namespace {

using Type = PolicyInput::Type;

std::vector<FeatureSpec> copy(std::span<const FeatureSpec> columns) {
  return {columns.begin(), columns.end()};
}

bool reads_edges(const model::SlotShape& slot) {
  return slot.encoder && slot.encoder->kind == model::EncoderKind::kMessagePassing;
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

std::vector<PolicyInput> candidates_inputs(const model::NetworkShape& shape) {
  const env::CandidateView& view = *shape.view;
  std::vector<PolicyInput> out = {
      {"candidate_features", Type::kFloat, "candidates", view.width(), copy(view.features())},
      {"candidate_decision", Type::kIndex, "candidates"},
      {"situation", Type::kFloat, "decisions", view.situation().size(), copy(view.situation())}};
  for (const model::SlotShape& slot : shape.slots) {
    if (!slot.encoder) continue;
    const SlotInputNames names = slot_input_names(slot);
    const std::string nodes = slot.encoder->slot + " nodes";
    const std::string edges = slot.encoder->slot + " edges";
    out.push_back({names.node_features, Type::kFloat, nodes,
                   static_cast<std::size_t>(slot.node_width + slot.dynamic_width)});
    out.push_back({names.node_decision, Type::kIndex, nodes});
    if (reads_edges(slot)) {
      if (slot.edge_width > 0) {
        out.push_back(
            {names.edge_features, Type::kFloat, edges, static_cast<std::size_t>(slot.edge_width)});
      }
      out.push_back({names.edge_src, Type::kIndex, edges});
      out.push_back({names.edge_dst, Type::kIndex, edges});
    }
    if (slot.focus) out.push_back({names.focus, Type::kIndex, "decisions"});
  }
  if (shape.node_embedding_width() > 0) {
    out.push_back({"candidate_node", Type::kIndex, "candidates"});
  }
  if (shape.agents > 1) out.push_back({"agent", Type::kIndex, "decisions"});
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
  std::vector<std::int64_t> candidate_nodes;
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    const model::SlotShape& read = shape.slots[slot];
    if (!read.encoder) continue;
    GraphColumns graph = slot_columns(shape, slot, graphs, batch);
    out.push_back(matrix(graph.node_decision.size(), std::move(graph.node_features)));
    out.push_back(vector(std::move(graph.node_decision)));
    if (reads_edges(read)) {
      if (read.edge_width > 0) {
        out.push_back(matrix(graph.edge_src.size(), std::move(graph.edge_features)));
      }
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
    if (shape.node_slot != slot) continue;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
        if (batch.mask(b)[a] == 0) continue;
        candidate_nodes.push_back(graph.first_node[b] + batch.candidate_nodes(b)[a]);
      }
    }
  }
  if (shape.node_embedding_width() > 0) out.push_back(vector(std::move(candidate_nodes)));
  if (shape.agents > 1) {
    std::vector<std::int64_t> agents;
    for (std::size_t b = 0; b < batch.size(); ++b) agents.push_back(batch.agent(b));
    out.push_back(vector(std::move(agents)));
  }
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
  return shape.config.head == model::HeadKind::kDense ? dense_inputs(shape, globals)
                                                      : candidates_inputs(shape);
}

SlotInputNames slot_input_names(const model::SlotShape& slot) {
  std::string name = slot.encoder->slot;  // as a part of an argument's name
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return {name + "_node_features", name + "_node_decision", name + "_edge_features",
          name + "_edge_src",      name + "_edge_dst",      name + "_focus"};
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
  return out.dump();
}

std::vector<InputValues> input_values(const model::NetworkShape& shape,
                                      std::span<const env::GraphFeaturesPtr> graphs,
                                      const Observations& batch) {
  PACML_CHECK(batch.size() > 0 && batch.shape() == model::input_shape(shape),
              "a batch of the network's observation space");
  return shape.config.head == model::HeadKind::kDense ? dense_values(shape, graphs, batch)
                                                      : candidates_values(shape, graphs, batch);
}

}  // namespace pacml::learner

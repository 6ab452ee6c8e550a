#include "model/encoders/reference_encoder.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "common/check.h"
#include "model/encoders/graph_encoder.h"
#include "model/encoders/relatives.h"
#include "model/encoders/slot_inputs.h"
#include "model/layout.h"
#include "model/network_constants.h"
#include "model/reference_layers.h"

namespace pacml::model {
namespace {

using Vector = std::vector<double>;
using Rows = std::vector<Vector>;

// Layers are known by their names.
struct Names {
  static std::string linear(std::string name, int /*in*/, int /*out*/) { return name; }
  static std::string product(std::string name, int /*in*/, int /*out*/) { return name; }
  static std::string norm(std::string name, int /*width*/) { return name; }
};

class Operations {
 public:
  Operations(const Parameters& parameters, const ParameterLayout& layout,
             const env::GraphFeatures& graph, Rows inputs, std::size_t focus)
      : parameters_(parameters),
        layout_(layout),
        graph_(graph),
        inputs_(std::move(inputs)),
        focus_(focus) {}

  [[nodiscard]] const Rows& inputs() const { return inputs_; }

  [[nodiscard]] Rows linear(const std::string& name, const Rows& rows) const {
    Rows out;
    for (const Vector& row : rows) {
      out.push_back(reference_linear(parameters_, layout_, name, row));
    }
    return out;
  }

  [[nodiscard]] Rows norm(const std::string& name, const Rows& rows) const {
    Rows out;
    for (const Vector& row : rows) out.push_back(reference_norm(parameters_, layout_, name, row));
    return out;
  }

  [[nodiscard]] static Rows relu(Rows rows) {
    for (Vector& row : rows) row = rectified(std::move(row));
    return rows;
  }

  [[nodiscard]] static Rows add(Rows rows, const Rows& others) {
    for (std::size_t v = 0; v < rows.size(); ++v) {
      for (std::size_t i = 0; i < rows[v].size(); ++i) rows[v][i] += others[v][i];
    }
    return rows;
  }

  [[nodiscard]] Rows mean_message(EdgeEnd end, const Rows& rows,
                                  const std::optional<std::string>& edge_layer) const {
    Rows out(rows.size(), Vector(rows.front().size(), 0.0));
    std::vector<double> heard(rows.size(), 0.0);
    const auto width = static_cast<std::size_t>(graph_.edge_width);
    for (std::size_t e = 0; e < graph_.edge_src.size(); ++e) {
      const auto [from, to] = ends_of(e, end);
      Vector message = rows[from];
      if (edge_layer) {
        Vector features;
        for (const float f : std::span(graph_.edge_features).subspan(e * width, width)) {
          features.push_back(double{squashed(f)});
        }
        const Vector term = reference_product(parameters_, layout_, *edge_layer, features);
        for (std::size_t i = 0; i < message.size(); ++i) message[i] += term[i];
      }
      accumulate(rectified(std::move(message)), out[to]);
      heard[to] += 1;
    }
    for (std::size_t v = 0; v < out.size(); ++v) {
      for (double& x : out[v]) x /= std::max(heard[v], 1.0);
    }
    return out;
  }

  [[nodiscard]] Rows sum_messages(EdgeEnd end, const Rows& rows) const {
    Rows out(rows.size(), Vector(rows.front().size(), 0.0));
    for (std::size_t e = 0; e < graph_.edge_src.size(); ++e) {
      const auto [from, to] = ends_of(e, end);
      accumulate(rows[from], out[to]);
    }
    return out;
  }

  [[nodiscard]] Rows where_heard(EdgeEnd end, const Rows& rows) const {
    Rows out(rows.size(), Vector(rows.front().size(), 0.0));
    for (std::size_t e = 0; e < graph_.edge_src.size(); ++e) {
      const std::size_t to = ends_of(e, end).second;
      out[to] = rows[to];
    }
    return out;
  }

  [[nodiscard]] static Rows join(Rows rows, const Rows& others) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r].insert(rows[r].end(), others[r].begin(), others[r].end());
    }
    return rows;
  }

  // Of the one decision that is looked at: a single row.
  [[nodiscard]] static Rows mean_and_maximum(const Rows& nodes) {
    Vector mean(nodes.front().size(), 0.0);
    Vector maximum = nodes.front();
    for (const Vector& node : nodes) {
      for (std::size_t i = 0; i < node.size(); ++i) {
        mean[i] += node[i] / static_cast<double>(nodes.size());
        maximum[i] = std::max(maximum[i], node[i]);
      }
    }
    return join({mean}, {maximum});
  }
  [[nodiscard]] Rows sum_of(NodeSet set, const Rows& nodes) const {
    Rows out(1, Vector(nodes.front().size(), 0.0));
    for (const std::int32_t v : members(set)) {
      accumulate(nodes[static_cast<std::size_t>(v)], out.front());
    }
    return out;
  }
  [[nodiscard]] Rows focus(const Rows& nodes) const { return {nodes.at(focus_)}; }

 private:
  // Who speaks and who hears.
  [[nodiscard]] std::pair<std::size_t, std::size_t> ends_of(std::size_t edge, EdgeEnd end) const {
    const auto from = static_cast<std::size_t>(graph_.edge_src[edge]);
    const auto to = static_cast<std::size_t>(graph_.edge_dst[edge]);
    return end == EdgeEnd::kPredecessors ? std::pair{from, to} : std::pair{to, from};
  }

  static void accumulate(const Vector& row, Vector& sum) {
    for (std::size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
  }

  [[nodiscard]] std::vector<std::int32_t> members(NodeSet set) const {
    if (set == NodeSet::kAll) {
      std::vector<std::int32_t> all(static_cast<std::size_t>(graph_.num_nodes));
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    const Relatives relatives = Ancestry(graph_).of(focus_);
    return relatives.in(set);
  }

  const Parameters& parameters_;
  const ParameterLayout& layout_;
  const env::GraphFeatures& graph_;
  Rows inputs_;
  std::size_t focus_;
};

// [nodes, features of a node], as the encoder reads them.
Rows inputs_of(const SlotShape& slot, const env::GraphFeatures& graph,
               std::span<const float> dynamic) {
  const auto width =
      static_cast<std::size_t>(slot.node_width) + static_cast<std::size_t>(slot.dynamic_width);
  const auto nodes = static_cast<std::size_t>(graph.num_nodes);
  std::vector<float> features(nodes * width);
  write_node_inputs(slot, graph, dynamic, features.data(), width);
  Rows inputs;
  for (std::size_t v = 0; v < nodes; ++v) {
    const auto row = std::span(features).subspan(v * width, width);
    inputs.emplace_back(row.begin(), row.end());
  }
  return inputs;
}

// What an encoder says of a decision's graph. Pre: the slot has an encoder.
ReferenceContext encode(const SlotShape& slot, std::size_t slot_index, const Parameters& parameters,
                        const ParameterLayout& layout, const env::GraphFeatures& graph,
                        const Observations& batch, std::size_t b) {
  Operations ops(parameters, layout, graph,
                 inputs_of(slot, graph, batch.node_features(b, slot_index)),
                 slot.focus ? batch.focus(b, slot_index) : 0);
  const auto layers = make_graph_encoder(Names{}, slot);
  ReferenceContext out;
  out.nodes = run_graph_encoder(ops, layers);
  out.values = run_graph_context(ops, layers, out.nodes, slot.focus).front();
  return out;
}

}  // namespace

ReferenceContext reference_context(const NetworkShape& shape, const Parameters& parameters,
                                   const ParameterLayout& layout,
                                   std::span<const env::GraphFeaturesPtr> graphs,
                                   const Observations& batch, std::size_t b) {
  ReferenceContext out;
  for (std::size_t s = 0; s < shape.slots.size(); ++s) {
    if (!shape.slots[s].encoder) continue;
    PACML_CHECK(batch.graph(b, s) < graphs.size(), "a graph that was set");
    auto encoded =
        encode(shape.slots[s], s, parameters, layout, *graphs[batch.graph(b, s)], batch, b);
    out.values.insert(out.values.end(), encoded.values.begin(), encoded.values.end());
    if (shape.node_slot == s) out.nodes = std::move(encoded.nodes);
  }
  for (int agent = 0; agent < shape.known_agents(); ++agent) {
    out.values.push_back(agent == batch.agent(b) ? 1.0 : 0.0);
  }
  return out;
}

}  // namespace pacml::model

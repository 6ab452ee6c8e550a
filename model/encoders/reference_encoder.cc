#include "model/encoders/reference_encoder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "common/check.h"
#include "model/encoders/graph_encoder.h"
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
             const env::GraphFeatures& graph, Rows inputs)
      : parameters_(parameters), layout_(layout), graph_(graph), inputs_(std::move(inputs)) {}

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
      auto from = static_cast<std::size_t>(graph_.edge_src[e]);
      auto to = static_cast<std::size_t>(graph_.edge_dst[e]);
      if (end == EdgeEnd::kSuccessors) std::swap(from, to);
      Vector message = rows[from];
      if (edge_layer) {
        Vector features;
        for (const float f : std::span(graph_.edge_features).subspan(e * width, width)) {
          features.push_back(double{squashed(f)});
        }
        const Vector term = reference_product(parameters_, layout_, *edge_layer, features);
        for (std::size_t i = 0; i < message.size(); ++i) message[i] += term[i];
      }
      message = rectified(std::move(message));
      for (std::size_t i = 0; i < message.size(); ++i) out[to][i] += message[i];
      heard[to] += 1;
    }
    for (std::size_t v = 0; v < out.size(); ++v) {
      for (double& x : out[v]) x /= std::max(heard[v], 1.0);
    }
    return out;
  }

 private:
  const Parameters& parameters_;
  const ParameterLayout& layout_;
  const env::GraphFeatures& graph_;
  Rows inputs_;
};

}  // namespace

ReferenceEncoding reference_encoding(const SlotShape& slot, std::size_t slot_index,
                                     const Parameters& parameters, const ParameterLayout& layout,
                                     const env::GraphFeatures& graph, const Observations& batch,
                                     std::size_t b) {
  PACML_CHECK(slot.encoder.has_value(), "a slot that is read");
  const auto width = static_cast<std::size_t>(slot.node_width + slot.dynamic_width);
  const auto nodes = static_cast<std::size_t>(graph.num_nodes);
  std::vector<float> features(nodes * width);
  write_node_inputs(slot, graph, batch.node_features(b, slot_index), features.data(), width);
  Rows inputs;
  for (std::size_t v = 0; v < nodes; ++v) {
    const auto row = std::span(features).subspan(v * width, width);
    inputs.emplace_back(row.begin(), row.end());
  }
  Operations ops(parameters, layout, graph, std::move(inputs));
  ReferenceEncoding out;
  out.nodes = run_graph_encoder(ops, make_graph_encoder(Names{}, slot));
  const auto embedding = static_cast<std::size_t>(slot.encoder->width);
  out.context.assign(2 * embedding, 0.0);
  for (std::size_t i = 0; i < embedding; ++i) {
    out.context[embedding + i] = out.nodes.front()[i];
    for (const Vector& node : out.nodes) {
      out.context[i] += node[i] / static_cast<double>(nodes);
      out.context[embedding + i] = std::max(out.context[embedding + i], node[i]);
    }
  }
  if (slot.focus) {
    const Vector& focus = out.nodes.at(batch.focus(b, slot_index));
    out.context.insert(out.context.end(), focus.begin(), focus.end());
  }
  return out;
}

}  // namespace pacml::model

#include "model/encoders/slot_inputs.h"

#include <algorithm>

#include "common/check.h"

namespace pacml::model {

bool is_of(const SlotShape& slot, const env::GraphFeatures& graph) {
  return graph.num_nodes > 0 && graph.node_width == slot.node_width &&
         graph.edge_width == slot.edge_width;
}

void write_node_inputs(const SlotShape& slot, const env::GraphFeatures& graph,
                       std::span<const float> dynamic, float* out, std::size_t stride) {
  PACML_CHECK(is_of(slot, graph), "a graph with features of the slot's widths");
  const auto nodes = static_cast<std::size_t>(graph.num_nodes);
  const auto fixed = static_cast<std::size_t>(slot.node_width);
  const auto changing = static_cast<std::size_t>(slot.dynamic_width);
  PACML_CHECK(dynamic.size() == nodes * changing && stride >= fixed + changing,
              "features of every node, and room for them");
  const auto read = [kind = slot.encoder->kind](float x) { return as_read(kind, x); };
  for (std::size_t v = 0; v < nodes; ++v, out += stride) {
    float* const next =
        std::ranges::transform(std::span(graph.node_features).subspan(v * fixed, fixed), out, read)
            .out;
    std::ranges::transform(dynamic.subspan(v * changing, changing), next, read);
  }
}

}  // namespace pacml::model

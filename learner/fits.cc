#include "learner/fits.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace pacml::learner {
namespace {

// Whether every row shows in each slot a graph that the network reads there, with features of all
// its nodes, and names no node that its graph does not have. Pre: the registry has all graphs.
Result<void> show_readable_graphs(const Observations& rows, const model::NetworkShape& shape,
                                  const GraphRegistry& registry) {
  std::vector<const env::GraphFeatures*> graphs;
  for (const std::uint16_t index : registry.indices(rows.graphs())) {
    graphs.push_back(registry.graphs()[index].get());
  }
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    const model::SlotShape& ours = shape.slots[slot];
    std::vector<std::uint8_t> readable;
    for (const auto* graph : graphs) readable.push_back(model::reads(shape, slot, *graph) ? 1 : 0);
    for (std::size_t b = 0; b < rows.size(); ++b) {
      const std::uint16_t graph = rows.graph(b, slot);
      if (readable[graph] == 0) {
        return fail(Errc::kVersionMismatch,
                    "experience shows a graph where the network reads others");
      }
      const auto nodes = static_cast<std::uint32_t>(graphs[graph]->num_nodes);
      const std::size_t features =
          std::size_t{nodes} * static_cast<std::size_t>(ours.dynamic_width);
      const bool names_nodes =
          (!ours.focus || rows.focus(b, slot) < nodes) &&
          (shape.node_slot != slot ||
           std::ranges::all_of(rows.candidate_nodes(b),
                               [&](std::uint32_t node) { return node < nodes; }));
      if (rows.node_features(b, slot).size() != features || !names_nodes) {
        return fail(Errc::kVersionMismatch, "experience is about nodes that its graph has not");
      }
    }
  }
  return {};
}

Result<void> fits(const Observations& observations, const model::NetworkShape& shape,
                  const GraphRegistry& graphs) {
  const ObservationShape ours = model::input_shape(shape);
  const ObservationShape& theirs = observations.shape();
  const auto differs = [](const char* what, std::uint32_t found, std::uint32_t expected) {
    return fail(Errc::kVersionMismatch, "experience has " + std::to_string(found) + " " + what +
                                            ", the network expects " + std::to_string(expected));
  };
  if (theirs.globals != ours.globals) {
    return differs("global features", theirs.globals, ours.globals);
  }
  if (theirs.candidates != ours.candidates) {
    return differs("actions", theirs.candidates, ours.candidates);
  }
  if (theirs != ours) {
    return fail(Errc::kVersionMismatch, "experience shows other things than the network reads");
  }
  if (const auto unknown = graphs.missing(observations.graphs()); !unknown.empty()) {
    return fail(Errc::kVersionMismatch,
                "experience names " + std::to_string(unknown.size()) + " unknown graphs");
  }
  return show_readable_graphs(observations, shape, graphs);
}

}  // namespace

Result<void> fits(const Sequences& sequences, const model::NetworkShape& shape,
                  const GraphRegistry& graphs) {
  return fits(sequences.observations, shape, graphs);
}

Result<void> fits(const Transitions& transitions, const model::NetworkShape& shape,
                  const GraphRegistry& graphs) {
  return fits(transitions.observations, shape, graphs);
}

}  // namespace pacml::learner

#include "common/experience/experience_form.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pacml {

std::uint32_t ExperienceForm::most_nodes() const {
  std::uint32_t most = 0;
  for (const auto& [hash, nodes] : graphs) most = std::max(most, nodes);
  return most;
}

Result<void> is_of_form(const Observations& observations, const ExperienceForm& form) {
  if (observations.shape() != form.shape) {
    return fail(Errc::kVersionMismatch, "the decisions are not as wide as this run's");
  }
  std::vector<std::size_t> nodes;  // of each graph that is listed
  for (const GraphHash hash : observations.graphs()) {
    const auto found = form.graphs.find(hash);
    if (found == form.graphs.end()) {
      return fail(Errc::kVersionMismatch, "the decisions are about a graph that this run has not");
    }
    nodes.push_back(found->second);
  }
  for (std::size_t slot = 0; slot < form.shape.slots.size(); ++slot) {
    const std::size_t width = form.shape.slots[slot].dynamic_width;
    if (width == 0) continue;
    for (std::size_t b = 0; b < observations.size(); ++b) {
      const std::size_t expected = nodes[observations.graph(b, slot)] * width;
      if (observations.node_features(b, slot).size() != expected) {
        return fail(
            Errc::kVersionMismatch,
            "the decisions show features of another number of nodes than their graphs have");
      }
    }
  }
  return {};
}

}  // namespace pacml

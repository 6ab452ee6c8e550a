#include "model/encoders/relatives.h"

#include <numeric>

#include "common/check.h"
#include "model/edge_order.h"

namespace pacml::model {

const std::vector<std::int32_t>& Relatives::in(NodeSet set) const& {
  PACML_CHECK(set != NodeSet::kAll, "a set that depends on a node");
  return set == NodeSet::kAncestors     ? ancestors
         : set == NodeSet::kDescendants ? descendants
                                        : others;
}

Ancestry::Ancestry(const env::GraphFeatures& graph)
    : parents_(
          neighbours(graph.edge_dst, graph.edge_src, static_cast<std::size_t>(graph.num_nodes))),
      children_(
          neighbours(graph.edge_src, graph.edge_dst, static_cast<std::size_t>(graph.num_nodes))) {}

Ancestry::Neighbours Ancestry::neighbours(const std::vector<std::int32_t>& from,
                                          const std::vector<std::int32_t>& to, std::size_t nodes) {
  Neighbours out;
  out.first.assign(nodes + 1, 0);
  for (const std::size_t e : edge_order(from)) {
    out.other.push_back(to[e]);
    ++out.first[static_cast<std::size_t>(from[e]) + 1];
  }
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  return out;
}

std::vector<std::uint8_t> Ancestry::reached(const Neighbours& neighbours, std::size_t node) {
  std::vector<std::uint8_t> seen(neighbours.first.size() - 1, 0);
  std::vector<std::size_t> open{node};
  seen[node] = 1;
  while (!open.empty()) {
    const std::size_t v = open.back();
    open.pop_back();
    for (std::int32_t e = neighbours.first[v]; e < neighbours.first[v + 1]; ++e) {
      const auto u = static_cast<std::size_t>(neighbours.other[static_cast<std::size_t>(e)]);
      if (seen[u] != 0) continue;
      seen[u] = 1;
      open.push_back(u);
    }
  }
  return seen;
}

Relatives Ancestry::of(std::size_t node) const {
  PACML_CHECK(node + 1 < parents_.first.size(), "a node of the graph");
  const auto above = reached(parents_, node);
  const auto below = reached(children_, node);
  Relatives out;
  for (std::size_t v = 0; v < above.size(); ++v) {
    if (v == node) continue;
    const auto index = static_cast<std::int32_t>(v);
    if (above[v] != 0) out.ancestors.push_back(index);
    if (below[v] != 0) out.descendants.push_back(index);
    if (above[v] == 0 && below[v] == 0) out.others.push_back(index);
  }
  return out;
}

}  // namespace pacml::model

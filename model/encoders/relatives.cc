#include "model/encoders/relatives.h"

#include <numeric>
#include <utility>

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

void Ancestry::reach(const Neighbours& neighbours, std::size_t node,
                     std::vector<std::int32_t>& open, std::vector<std::uint8_t>& seen) {
  seen.assign(neighbours.first.size() - 1, 0);
  seen[node] = 1;
  open.reserve(seen.size());
  open.assign(1, static_cast<std::int32_t>(node));
  while (!open.empty()) {
    const auto v = static_cast<std::size_t>(open.back());
    open.pop_back();
    for (std::int32_t e = neighbours.first[v]; e < neighbours.first[v + 1]; ++e) {
      const std::int32_t u = neighbours.other[static_cast<std::size_t>(e)];
      if (std::exchange(seen[static_cast<std::size_t>(u)], std::uint8_t{1}) == 0) {
        open.push_back(u);
      }
    }
  }
}

Relatives Ancestry::of(std::size_t node) const {
  Relatives out;
  find(node, out);
  return out;
}

void Ancestry::find(std::size_t node, Relatives& out) const {
  PACML_CHECK(node + 1 < parents_.first.size(), "a node of the graph");
  reach(parents_, node, out.open, out.above);
  reach(children_, node, out.open, out.below);
  for (auto* set : {&out.ancestors, &out.descendants, &out.others}) {
    set->clear();
    set->reserve(out.above.size());
  }
  for (std::size_t v = 0; v < out.above.size(); ++v) {
    if (v == node) continue;
    const auto index = static_cast<std::int32_t>(v);
    if (out.above[v] != 0) out.ancestors.push_back(index);
    if (out.below[v] != 0) out.descendants.push_back(index);
    if (out.above[v] == 0 && out.below[v] == 0) out.others.push_back(index);
  }
}

}  // namespace pacml::model

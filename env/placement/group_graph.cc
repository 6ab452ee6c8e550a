#include "env/placement/group_graph.h"

#include <algorithm>
#include <set>

#include "common/index.h"

namespace pacml::env {
namespace {

// Where each group's leader stands in the topological order of operations.
std::vector<std::int32_t> leader_positions(const OpGraph& graph) {
  std::vector<std::int32_t> position(graph.num_ops());
  const auto order = graph.topological_order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[at(order[i])] = static_cast<std::int32_t>(i);
  }
  std::vector<std::int32_t> of_leader;
  for (std::size_t g = 0; g < graph.num_groups(); ++g) {
    of_leader.push_back(position[at(graph.groups()[g].front())]);
  }
  return of_leader;
}

GroupAttributes attributes_of(const OpGraph& graph, const OpFlows& flows, std::size_t group) {
  GroupAttributes sum;
  const auto ops = graph.groups()[group];
  for (const std::int32_t op : ops) {
    const auto v = at(op);
    sum.cost_us += graph.cost_us()[v];
    sum.memory_bytes += graph.spec().ops[v].memory_bytes.value_or(graph.bytes_out()[v]);
    if (ops.size() == 1) {
      sum.out_bytes = graph.bytes_out()[v];
      continue;
    }
    for (std::int32_t o = graph.first_output(v); o < graph.first_output(v + 1); ++o) {
      const bool leaves =
          std::ranges::any_of(flows.output_consumers[at(o)], [&](std::int32_t consumer) {
            return graph.group_of()[at(consumer)] != static_cast<std::int32_t>(group);
          });
      if (leaves) sum.out_bytes += graph.output_bytes()[at(o)];
    }
  }
  return sum;
}

}  // namespace

GroupGraph::GroupGraph(const OpGraph& graph, PlacementSemantics semantics) {
  const auto leader = leader_positions(graph);
  std::vector<std::vector<std::int32_t>> children(graph.num_groups());
  std::vector<std::vector<std::int32_t>> parents(graph.num_groups());
  std::set<std::pair<std::int32_t, std::int32_t>> known;
  for (std::size_t p = 0; p < graph.num_ops(); ++p) {
    for (const std::int32_t consumer : graph.consumers()[p]) {
      const std::int32_t a = graph.group_of()[p];
      const std::int32_t b = graph.group_of()[at(consumer)];
      if (leader[at(a)] >= leader[at(b)] || !known.emplace(a, b).second) continue;
      children[at(a)].push_back(b);
      parents[at(b)].push_back(a);
    }
  }
  children_ = IndexLists(children);
  parents_ = IndexLists(parents);
  for (std::size_t g = 0; g < graph.num_groups(); ++g) {
    attributes_.push_back(attributes_of(graph, graph.flows(semantics), g));
  }
}

Reachability::Reachability(const IndexLists& children)
    : words_((children.size() + 63) / 64), bits_(children.size() * words_, 0) {
  const auto order = fifo_topological_order(children);
  for (std::size_t i = order.size(); i-- > 0;) {
    std::uint64_t* below = &bits_[at(order[i]) * words_];
    for (const std::int32_t c : children[at(order[i])]) {
      below[at(c) / 64] |= std::uint64_t{1} << (at(c) % 64);
      for (std::size_t w = 0; w < words_; ++w) below[w] |= bits_[at(c) * words_ + w];
    }
  }
}

}  // namespace pacml::env

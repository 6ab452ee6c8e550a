#include "env/spec_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "common/finite.h"
#include "common/wire/codec.h"

namespace pacml::env {
namespace {

// Beside metrics in what `pacml eval --out` writes, and in what Python is told of an episode.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"name", "learned", "seeds", "seed", "decisions", "problem", "method", "difference", "r", "l"});

bool is_of(const SlotSpec& slot, const GraphFeatures& graph) {
  return graph.node_width == static_cast<int>(slot.node_width) &&
         graph.edge_width == static_cast<int>(slot.edge_width);
}

std::optional<std::string> problem_of(const GraphFeatures& graph, const ObservationSpec& shown) {
  const auto of = [](int rows, int width) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  };
  if (graph.num_nodes < 1 || graph.num_edges < 0 || graph.node_width < 0 || graph.edge_width < 0) {
    return "has no nodes, or a number that is negative";
  }
  constexpr wire::WireLimits kLimits;
  if (static_cast<std::uint32_t>(graph.num_nodes) > kLimits.max_nodes ||
      static_cast<std::uint32_t>(graph.num_edges) > kLimits.max_edges) {
    return "has " + std::to_string(graph.num_nodes) + " nodes and " +
           std::to_string(graph.num_edges) + " edges, more than the " +
           std::to_string(kLimits.max_nodes) + " and " + std::to_string(kLimits.max_edges) +
           " that a message takes";
  }
  if (graph.node_features.size() != of(graph.num_nodes, graph.node_width) ||
      graph.edge_features.size() != of(graph.num_edges, graph.edge_width)) {
    return "has features of other numbers of nodes, edges or widths than it says";
  }
  if (!all_finite(graph.node_features) || !all_finite(graph.edge_features)) {
    return "has a feature that is infinite or no number";
  }
  const auto edges = static_cast<std::size_t>(graph.num_edges);
  if (graph.edge_src.size() != edges || graph.edge_dst.size() != edges) {
    return "has other ends of edges than num_edges says";
  }
  const auto is_node = [&](std::int32_t v) { return v >= 0 && v < graph.num_nodes; };
  if (!std::ranges::all_of(graph.edge_src, is_node) ||
      !std::ranges::all_of(graph.edge_dst, is_node)) {
    return "has an edge that begins or ends at none of its nodes";
  }
  if (graph.hash != hash_features(graph)) {
    return "has a hash of something else: set it last, hash = hash_features(graph)";
  }
  if (std::ranges::none_of(shown.slots, [&](const SlotSpec& slot) { return is_of(slot, graph); })) {
    return "has features of other widths than every slot of the observation";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> problem_of(const EnvironmentSpec& spec) {
  if (const auto problems = validate(spec.observation); !problems.empty()) return problems.front();
  if (spec.graphs.empty()) return "there are no graphs, and each decision shows one";
  if (const auto most = ObservationLimits{}.max_graphs; spec.graphs.size() > most) {
    return "there are " + std::to_string(spec.graphs.size()) + " graphs, more than the " +
           std::to_string(most) + " that a message lists";
  }
  if (spec.graph_names.size() != spec.graphs.size()) return "not every graph has one name";
  for (std::size_t g = 0; g < spec.graphs.size(); ++g) {
    if (spec.graphs[g] == nullptr) return "graph " + spec.graph_names[g] + " is null";
    if (const auto problem = problem_of(*spec.graphs[g], spec.observation)) {
      return "graph " + spec.graph_names[g] + " " + *problem;
    }
  }
  if (spec.metrics.empty() || spec.metrics.size() > kMostMetrics) {
    return "there must be 1 to " + std::to_string(kMostMetrics) +
           " metrics, the first of them the objective";
  }
  for (std::size_t m = 0; m < spec.metrics.size(); ++m) {
    const std::string& name = spec.metrics[m].name;
    if (std::ranges::find(kReserved, name) != kReserved.end()) {
      return "no metric may be called " + name + ": what is written of evaluations is";
    }
    const auto before = std::span(spec.metrics).first(m);
    if (std::ranges::find(before, name, &MetricSpec::name) != before.end()) {
      return "two metrics are called " + name;
    }
  }
  if (spec.objective().better == Better::kNeither) {
    return "the first metric, " + spec.objective().name +
           ", is the objective: lower or higher must be better";
  }
  return std::nullopt;
}

}  // namespace pacml::env

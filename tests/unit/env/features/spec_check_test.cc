#include "env/spec_check.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"

namespace pacml::env {
namespace {

struct Mistake {
  std::string sentence;
  std::function<void(EnvironmentSpec&, GraphFeatures&)> make;
};

TEST_CASE("a task that says of itself what cannot be is told in one sentence", "[unit][env]") {
  const auto sound = [](const std::function<void(EnvironmentSpec&, GraphFeatures&)>& change) {
    auto graph = std::make_shared<GraphFeatures>();
    graph->num_nodes = 2;
    graph->num_edges = 1;
    graph->node_width = graph->edge_width = 1;
    graph->node_features = {1, 2};
    graph->edge_features = {3};
    graph->edge_src = {0};
    graph->edge_dst = {1};
    graph->hash = hash_features(*graph);
    EnvironmentSpec spec;
    spec.observation = plain_spec(1, 2);
    spec.graph_names = {"pair"};
    spec.metrics = {{"steps", "steps", "steps", Better::kLower, 2, {}}};
    spec.graphs = {graph};
    change(spec, *graph);
    return problem_of(spec).value_or("");
  };
  CHECK(sound([](EnvironmentSpec&, GraphFeatures&) {}).empty());
  const auto mistake = GENERATE(
      Mistake{"there are no graphs, and each decision shows one",
              [](auto& spec, auto&) { spec.graphs.clear(); }},
      Mistake{"not every graph has one name", [](auto& spec, auto&) { spec.graph_names.clear(); }},
      Mistake{"graph pair is null", [](auto& spec, auto&) { spec.graphs = {nullptr}; }},
      Mistake{"graph pair has an edge that begins or ends at none of its nodes",
              [](auto&, auto& graph) { graph.edge_dst = {2}; }},
      Mistake{"graph pair has other ends of edges than num_edges says",
              [](auto&, auto& graph) { graph.edge_src.clear(); }},
      Mistake{"graph pair has features of other numbers of nodes, edges or widths than it says",
              [](auto&, auto& graph) { graph.num_nodes = 3; }},
      Mistake{"graph pair has 1048577 nodes and 1 edges, more than the 1048576 and 4194304 that a "
              "message takes",
              [](auto&, auto& graph) {
                graph.num_nodes = (1 << 20) + 1;
                graph.node_features.resize(static_cast<std::size_t>(graph.num_nodes));
              }},
      Mistake{"there are 4097 graphs, more than the 4096 that a message lists",
              [](auto& spec, auto&) {
                spec.graphs.resize(4097, spec.graphs[0]);
                spec.graph_names.resize(4097, "pair");
              }},
      Mistake{"graph pair has a feature that is infinite or no number",
              [](auto&, auto& graph) {
                graph.edge_features = {std::numeric_limits<float>::quiet_NaN()};
              }},
      Mistake{"graph pair has a hash of something else: set it last, hash = hash_features(graph)",
              [](auto&, auto& graph) {
                graph.node_features = {1, 4};
              }},
      Mistake{"graph pair has features of other widths than every slot of the observation",
              [](auto& spec, auto&) { spec.observation.slots[0].node_width = 2; }},
      Mistake{"there must be 1 to 16 metrics, the first of them the objective",
              [](auto& spec, auto&) { spec.metrics.clear(); }},
      Mistake{"no metric may be called seeds: what is written of evaluations is",
              [](auto& spec, auto&) { spec.metrics[0].name = "seeds"; }},
      Mistake{"no metric may be called learned: what is written of evaluations is",
              [](auto& spec, auto&) { spec.metrics[0].name = "learned"; }},
      Mistake{"no metric may be called difference: what is written of evaluations is",
              [](auto& spec, auto&) { spec.metrics[0].name = "difference"; }},
      Mistake{"no metric may be called method: what is written of evaluations is",
              [](auto& spec, auto&) { spec.metrics[0].name = "method"; }},
      Mistake{"two metrics are called steps",
              [](auto& spec, auto&) { spec.metrics.push_back(spec.metrics[0]); }},
      Mistake{"the first metric, steps, is the objective: lower or higher must be better",
              [](auto& spec, auto&) { spec.metrics[0].better = Better::kNeither; }});
  CHECK(sound(mistake.make) == mistake.sentence);
}

TEST_CASE(
    "candidates that are nodes of a slot that is not there are found out before it is looked up",
    "[unit][env]") {
  EnvironmentSpec spec;
  spec.observation = plain_spec(1, 2);
  spec.observation.candidates.node_slot = 3;
  CHECK(problem_of(spec).has_value());
}

}  // namespace
}  // namespace pacml::env

#include "bench/inference_bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/experience/observations.h"
#include "common/rng.h"
#include "env/graph_features.h"
#include "model/fused_policy.h"
#include "model/initialise.h"

namespace pacml::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNodes = 114;
constexpr int kEdges = 142;
constexpr std::size_t kGraphs = 8;
const model::NetworkShape kShape{model::NetworkConfig{}, {{5, 2}}, 17, 17};

// Like a mirrored training graph: a chain, with the remaining edges skipping ahead.
env::GraphFeaturesPtr mirrored_graph(Rng& rng) {
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = kNodes;
  graph->num_edges = kEdges;
  graph->node_width = kShape.graph().node_width;
  graph->edge_width = kShape.graph().edge_width;
  const auto draw = [&] { return static_cast<float>(rng.uniform()); };
  graph->node_features.resize(std::size_t{kNodes} * 5);
  graph->edge_features.resize(std::size_t{kEdges} * 2);
  std::ranges::generate(graph->node_features, draw);
  std::ranges::generate(graph->edge_features, draw);
  for (int e = 0; e < kEdges; ++e) {
    const int src = e < kNodes - 1 ? e : static_cast<int>(rng.below(kNodes - 1));
    const int ahead =
        e < kNodes - 1
            ? 1
            : static_cast<int>(1 + rng.below(static_cast<std::uint64_t>(kNodes - 1 - src)));
    graph->edge_src.push_back(src);
    graph->edge_dst.push_back(src + ahead);
  }
  graph->hash = env::hash_features(*graph);
  return graph;
}

Observations synthetic_batch(Rng& rng, std::size_t size) {
  Observations batch(model::input_shape(kShape), size);
  for (std::size_t b = 0; b < size; ++b) {
    const ObservationRow row = batch.row(b);
    row.graph[0] = static_cast<std::uint16_t>(b % kGraphs);
    for (float& x : row.globals) x = static_cast<float>(rng.uniform());
    for (std::uint8_t& valid : row.mask) valid = static_cast<std::uint8_t>(rng.below(2));
    row.mask[0] = 1;
  }
  return batch;
}

// Seconds that `timed` takes, the median over `repetitions`; `prepare` runs before each, untimed.
template <class Prepare, class Timed>
double median_seconds(int repetitions, Prepare prepare, Timed timed) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    prepare();
    const auto start = Clock::now();
    timed();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return median_of(std::move(seconds));
}

void measure(std::string_view name, model::KernelPath path, Figures& figures) {
  Rng rng(Seed{1});
  std::vector<env::GraphFeaturesPtr> graphs;
  for (std::size_t g = 0; g < kGraphs; ++g) graphs.push_back(mirrored_graph(rng));
  const model::Parameters parameters = model::initialise(kShape, Seed{1});
  const auto policy = model::make_fused_policy(kShape, path);
  policy->set_graphs(graphs);
  policy->set_parameters(parameters);
  model::PolicyOutput out;
  const std::string prefix = std::string(name) + "_";

  const Observations one_each = synthetic_batch(rng, kGraphs);
  const double all_graphs = median_seconds(
      300, [&] { policy->set_parameters(parameters); }, [&] { policy->evaluate(one_each, out); });
  figures.emplace_back(prefix + "distinct_graph_seconds",
                       all_graphs / static_cast<double>(kGraphs));

  for (const std::size_t size : {1, 8, 32, 128}) {
    const Observations batch = synthetic_batch(rng, size);
    policy->evaluate(batch, out);
    // Many calls between two readings of the clock, which itself costs tens of nanoseconds.
    const std::size_t calls = 1024 / size;
    const double seconds = median_seconds(
        200, [] {},
        [&] {
          for (std::size_t i = 0; i < calls; ++i) policy->evaluate(batch, out);
        });
    figures.emplace_back(prefix + "interned_decision_seconds_b" + std::to_string(size),
                         seconds / static_cast<double>(calls * size));
  }
}

}  // namespace

Figures run_inference_bench() {
  Figures figures;
  if (model::is_supported(model::KernelPath::kAvx2)) {
    measure("avx2", model::KernelPath::kAvx2, figures);
  }
  measure("portable", model::KernelPath::kPortable, figures);
  return figures;
}

}  // namespace pacml::bench

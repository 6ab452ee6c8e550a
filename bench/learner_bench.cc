#include "bench/learner_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/rng.h"
#include "learner/algorithm.h"
#include "learner/apex_dqn.h"
#include "learner/graph_registry.h"
#include "learner/impala.h"
#include "learner/train_batch.h"
#include "learner/transition_batch.h"
#include "model/fused_policy.h"
#include "model/initialise.h"
#include "model/torch_network.h"

namespace pacml::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNodes = 114;
constexpr int kEdges = 142;
constexpr std::size_t kGraphs = 5;
constexpr std::uint32_t kSteps = 50;
constexpr std::uint32_t kEnvironments = 20;
const model::NetworkShape kShape{model::NetworkConfig{}, {{5, 2}}, 17, 17};

env::GraphFeaturesPtr forward_graph(Rng& rng) {
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
  // Forward in time, as in a training step: a chain, then edges that skip ahead.
  for (int e = 0; e < kEdges; ++e) {
    const int src = e % (kNodes - 1);
    const auto room = static_cast<std::uint64_t>(kNodes - 1 - src);
    graph->edge_src.push_back(src);
    graph->edge_dst.push_back(e < kNodes - 1 ? src + 1
                                             : src + 1 + static_cast<int>(rng.below(room)));
  }
  graph->hash = env::hash_features(*graph);
  return graph;
}

// Any row, in which this action is valid.
void fill(const ObservationRow& row, std::size_t graphs, std::size_t valid, Rng& rng) {
  row.graph[0] = static_cast<std::uint16_t>(rng.below(graphs));
  for (float& x : row.globals) x = static_cast<float>(rng.uniform());
  for (std::uint8_t& bit : row.mask) bit = static_cast<std::uint8_t>(rng.below(2));
  row.mask[valid] = 1;
}

Observations empty_observations(std::span<const env::GraphFeaturesPtr> graphs) {
  Observations out(model::input_shape(kShape));
  std::vector<GraphHash> hashes;
  for (const auto& graph : graphs) hashes.push_back(graph->hash);
  out.set_graphs(std::move(hashes));
  return out;
}

Sequences synthetic_sequences(Rng& rng, std::span<const env::GraphFeaturesPtr> graphs) {
  Sequences out;
  out.lengths.assign(kEnvironments, kSteps);
  out.first_step.resize(kEnvironments);
  out.observations = empty_observations(graphs);
  for (std::size_t i = 0; i < std::size_t{kEnvironments} * (kSteps + 1); ++i) {
    const auto action = rng.below(static_cast<std::uint64_t>(kShape.actions));
    fill(out.observations.append(), graphs.size(), action, rng);
    if (i % (kSteps + 1) == kSteps) continue;
    out.action.push_back(static_cast<std::int16_t>(action));
    out.behaviour_log_prob.push_back(-std::log(8.5F));
    out.reward.push_back(rng.below(2) == 0 ? -1.0F : 1.0F);
    out.flags.push_back(0);
  }
  out.append_version(PolicyVersion{0}, out.num_decisions());
  return out;
}

// N transitions whose states and masks are unrelated, of any graph.
Transitions synthetic_transitions(Rng& rng, std::span<const env::GraphFeaturesPtr> graphs,
                                  std::size_t count) {
  Transitions out;
  out.observations = empty_observations(graphs);
  for (std::size_t n = 0; n < count; ++n) {
    const auto action = rng.below(static_cast<std::uint64_t>(kShape.actions));
    fill(out.observations.append(), graphs.size(), action, rng);
    fill(out.observations.append(), graphs.size(), 0, rng);
    out.heads.push_back({.n_step_return = rng.below(2) == 0 ? -1.0F : 1.0F,
                         .discount = 0.97F,
                         .action = static_cast<std::int32_t>(action),
                         .discounted_time = 3});
  }
  return out;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Median seconds of `timed` over the repetitions that fit into a second, at least 15.
template <class Timed>
double median_seconds(Timed timed) {
  constexpr std::size_t kMinRepetitions = 15;
  timed();
  std::vector<double> seconds;
  const auto begin = Clock::now();
  while (seconds.size() < kMinRepetitions || seconds_since(begin) < 1.0) {
    const auto start = Clock::now();
    timed();
    seconds.push_back(seconds_since(start));
  }
  return median_of(std::move(seconds));
}

// One update, which is made: what is skipped takes no time.
template <class Algorithm, class Batch>
void learn(Algorithm& algorithm, const Batch& batch) {
  const auto report = algorithm.update(batch);
  PACML_CHECK(report && report->outcome == learner::Outcome::kApplied, "a sound update");
}

struct Setup {
  Setup() {
    for (std::size_t g = 0; g < kGraphs; ++g) graphs.add(forward_graph(rng));
    for (auto& message : messages) message = synthetic_sequences(rng, graphs.graphs());
    network.set_graphs(graphs.graphs());
    const model::Parameters start = model::initialise(kShape, Seed{1});
    std::ranges::copy(start.values, network.parameters().begin());
    config.max_policy_lag = 1'000'000;  // the same experience is learned from again and again
  }
  // The first `decisions` of the experience.
  [[nodiscard]] std::vector<const Sequences*> take(std::size_t decisions) const {
    std::vector<const Sequences*> out;
    for (const Sequences& message : messages) {
      if (out.size() * message.num_decisions() < decisions) out.push_back(&message);
    }
    return out;
  }

  Rng rng{Seed{1}};
  learner::GraphRegistry graphs;
  std::vector<Sequences> messages = std::vector<Sequences>(4);
  model::TorchNetwork network{kShape};
  learner::ImpalaConfig config;
};

}  // namespace

Figures run_learner_bench() {
  Setup setup;
  learner::Impala impala(setup.config, setup.network);
  learner::TrainBatch batch;
  Figures figures;
  for (const std::size_t decisions : {2000, 1000, 4000}) {
    const auto messages = setup.take(decisions);
    const double seconds = median_seconds([&] {
      learner::assemble(messages, setup.graphs, batch);
      learn(impala, batch);
    });
    const double rate = static_cast<double>(batch.decisions()) / seconds;
    if (figures.empty()) figures.emplace_back("samples_per_second", rate);
    figures.emplace_back("samples_per_second_b" + std::to_string(decisions), rate);
  }

  const auto messages = setup.take(2000);
  figures.emplace_back("assemble_seconds_b2000",
                       median_seconds([&] { learner::assemble(messages, setup.graphs, batch); }));
  figures.emplace_back("update_seconds_b2000", median_seconds([&] { learn(impala, batch); }));
  const double forward =
      median_seconds([&] { static_cast<void>(setup.network.forward(batch.observations)); });
  figures.emplace_back("forward_seconds_b2000", forward);
  const std::size_t rows = batch.observations.size();
  const std::vector<float> logit_gradients(rows * batch.observations.num_candidates(), 1e-3F);
  const std::vector<float> value_gradients(rows, 1e-3F);
  const double both = median_seconds([&] {
    static_cast<void>(setup.network.forward(batch.observations));
    static_cast<void>(setup.network.backward(logit_gradients, value_gradients));
  });
  figures.emplace_back("backward_seconds_b2000", both - forward);
  return figures;
}

Figures run_apex_bench() {
  constexpr std::size_t kStageBatch = 512;
  Setup setup;
  const auto online = model::make_fused_policy(kShape);
  const auto target = model::make_fused_policy(kShape);
  learner::ApexDqn apex({}, setup.network, *online, *target);
  apex.set_graphs(setup.graphs.graphs());
  learner::TransitionBatch batch;
  Figures figures;
  for (const std::size_t size : {kStageBatch, std::size_t{1024}, std::size_t{2048}}) {
    const Transitions rows = synthetic_transitions(setup.rng, setup.graphs.graphs(), size);
    std::vector<double> probabilities(size);
    for (double& p : probabilities) p = 1e-6 * (0.01 + setup.rng.uniform());
    const double seconds = median_seconds([&] {
      learner::assemble(rows, probabilities, setup.graphs, batch);
      learn(apex, batch);
      static_cast<void>(apex.snapshot());
    });
    const double rate = static_cast<double>(size) / seconds;
    if (figures.empty()) figures.emplace_back("samples_per_second", rate);
    figures.emplace_back("samples_per_second_b" + std::to_string(size), rate);
  }

  const Transitions rows = synthetic_transitions(setup.rng, setup.graphs.graphs(), kStageBatch);
  const std::vector<double> probabilities(kStageBatch, 1e-6);
  const auto stage = [&figures](const std::string& name, double seconds) {
    figures.emplace_back(name + "_seconds_b" + std::to_string(kStageBatch), seconds);
  };
  stage("assemble",
        median_seconds([&] { learner::assemble(rows, probabilities, setup.graphs, batch); }));
  stage("update", median_seconds([&] { learn(apex, batch); }));
  const model::Parameters weights = apex.snapshot();
  model::PolicyOutput output;
  stage("targets", median_seconds([&] {
          online->set_parameters(weights);
          online->evaluate(batch.next_states, output);
          target->evaluate(batch.next_states, output);
        }));
  const double forward =
      median_seconds([&] { static_cast<void>(setup.network.forward(batch.states)); });
  stage("forward", forward);
  const std::vector<float> logit_gradients(batch.states.masks().size(), 1e-3F);
  const std::vector<float> value_gradients(batch.size(), 1e-3F);
  const double both = median_seconds([&] {
    static_cast<void>(setup.network.forward(batch.states));
    static_cast<void>(setup.network.backward(logit_gradients, value_gradients));
  });
  stage("backward", both - forward);
  return figures;
}

}  // namespace pacml::bench

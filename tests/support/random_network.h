#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/experience/observations.h"
#include "common/rng.h"
#include "env/candidate_view.h"
#include "env/graph_features.h"
#include "env/random_graph.h"
#include "model/initialise.h"
#include "model/layout.h"
#include "model/network_config.h"
#include "model/parameters.h"

// Random networks and what they are fed, for the tests that hold implementations together.
namespace pacml::model {

// The published network, as narrow as a test of something else needs it.
inline NetworkShape smallest_shape(const env::EnvironmentSpec& spec) {
  NetworkConfig config;
  config.message_width = 4;
  config.hidden_width = 4;
  config.node_width = 4;
  config.readout_width = 8;
  return make_shape(config, spec);
}

// The sizes of the published agent: features of PAC-ML's partitioning task, 17 actions.
inline NetworkShape published_shape() { return {NetworkConfig{}, {{5, 2}}, 17, 17}; }

// One whose every weight can be looked at.
inline NetworkShape small_shape() {
  NetworkConfig config;
  config.message_width = 6;
  config.hidden_width = 7;
  config.node_width = 4;
  config.graph_width = 3;
  config.readout_width = 9;
  return {config, {{3, 2}}, 4, 5};
}

// head: candidates, of a task that sends so many features of each candidate, and so many globals.
inline NetworkShape candidates_shape(int features, int globals, int actions,
                                     const CandidateHeadConfig& config = {}) {
  ObservationSpec spec;
  for (int g = 0; g < globals; ++g) spec.globals.push_back({"global_" + std::to_string(g), "1"});
  for (int f = 0; f < features; ++f) {
    spec.candidates.features.push_back({"feature_" + std::to_string(f), "1"});
  }
  NetworkShape shape = published_shape();
  shape.config.head = HeadKind::kCandidates;
  shape.config.candidates = config;
  shape.globals = globals;
  shape.actions = actions;
  shape.sent_features = features;
  shape.view = env::plain_view(spec);
  return shape;
}

inline float uniform_float(Rng& rng, double low, double high) {
  return static_cast<float>(low + (high - low) * rng.uniform());
}

inline env::GraphFeaturesPtr random_graph(Rng& rng, const SlotShape& slot, int nodes, int edges) {
  return env::random_graph(rng, slot.node_width, slot.edge_width, nodes, edges);
}
// ... of the shape's first slot.
inline env::GraphFeaturesPtr random_graph(Rng& rng, const NetworkShape& shape, int nodes,
                                          int edges) {
  return random_graph(rng, shape.graph(), nodes, edges);
}

// Initial weights with every entry disturbed, norms and heads too, so that a weight that an
// implementation forgets or misplaces shows.
inline Parameters random_parameters(const NetworkShape& shape, Seed seed) {
  Parameters parameters = initialise(shape, seed);
  Rng rng(seed);
  for (float& value : parameters.values) value += uniform_float(rng, -0.1, 0.1);
  return parameters;
}

// The same of a task in which the number of candidates differs from decision to decision.
inline NetworkShape varying_candidates_shape(int features, int globals, int most,
                                             const CandidateHeadConfig& config = {}) {
  NetworkShape shape = candidates_shape(features, globals, most, config);
  shape.candidates_vary = true;
  return shape;
}

// Anything that head: candidates can read: one to three graphs with or without encoders, with and
// without features that change, a focus, candidates that are nodes, several agents, told apart or
// not. `most`: of every width.
inline NetworkShape encoders_shape(Rng& rng, std::uint64_t most) {
  const auto draw = [&rng](std::uint64_t below) { return static_cast<int>(rng.below(below)); };
  const auto width = [&] { return 1 + draw(most); };
  std::vector<SlotShape> slots(static_cast<std::size_t>(1 + draw(3)));
  for (std::size_t s = 0; s < slots.size(); ++s) {
    slots[s] = {width(), draw(4), 0, false};
    if (s > 0 && draw(4) == 0) continue;
    slots[s].dynamic_width = draw(2) * width();
    slots[s].focus = draw(2) == 1;
    const auto kind = std::array{EncoderKind::kDeepSet, EncoderKind::kMessagePassing,
                                 EncoderKind::kTwoWay}[rng.below(3)];
    slots[s].encoder = EncoderConfig{"slot" + std::to_string(s), kind, width(), 1 + draw(3)};
  }
  const bool are_nodes = draw(2) == 1;
  NetworkShape shape = candidates_shape(are_nodes ? draw(3) : width(), draw(3), width(),
                                        {width(), width(), width()});
  shape.slots = slots;
  if (are_nodes) shape.node_slot = 0;
  shape.candidates_vary = draw(2) == 1;
  shape.agents = 1 + draw(3);
  shape.config.agent_identity = draw(2) == 1;
  return shape;
}

// The same of head: perceptron.
inline NetworkShape perceptron_shape(Rng& rng, std::uint64_t most) {
  NetworkShape shape = encoders_shape(rng, most);
  shape.config.head = HeadKind::kPerceptron;
  shape.config.perceptron = {1 + static_cast<int>(rng.below(most)),
                             1 + static_cast<int>(rng.below(most))};
  shape.candidates_vary = false;
  shape.sent_features = 0;
  shape.node_slot.reset();
  shape.view = nullptr;
  return shape;
}

// Some graphs of every slot.
inline std::vector<env::GraphFeaturesPtr> random_graphs(Rng& rng, const NetworkShape& shape,
                                                        std::uint64_t most_nodes) {
  std::vector<env::GraphFeaturesPtr> graphs;
  for (const SlotShape& slot : shape.slots) {
    for (int g = 0; g < 3; ++g) {
      const int nodes = 1 + static_cast<int>(rng.below(most_nodes));
      const int edges = g == 0 ? 0 : static_cast<int>(rng.below(3 * most_nodes));
      graphs.push_back(random_graph(rng, slot, nodes, edges));
    }
  }
  return graphs;
}

// Decisions on random_graphs(), with uniform features and masks with at least one valid action.
inline Observations random_batch(Rng& rng, const NetworkShape& shape, std::size_t size,
                                 std::span<const env::GraphFeaturesPtr> graphs) {
  Observations batch(input_shape(shape));
  for (std::size_t b = 0; b < size; ++b) {
    std::vector<std::uint16_t> shown;
    std::vector<std::uint32_t> nodes;  // of each slot
    std::vector<std::uint32_t> changing;
    for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
      shown.push_back(static_cast<std::uint16_t>(3 * slot + rng.below(3)));
      nodes.push_back(static_cast<std::uint32_t>(graphs[shown.back()]->num_nodes));
      if (shape.slots[slot].dynamic_width > 0) changing.push_back(nodes.back());
    }
    RowLengths lengths{.candidates = 0, .nodes = changing};
    if (shape.candidates_vary) {
      lengths.candidates =
          1 + static_cast<std::uint32_t>(rng.below(static_cast<std::uint64_t>(shape.actions)));
    }
    const ObservationRow row = batch.append(lengths);
    std::ranges::copy(shown, row.graph.begin());
    std::size_t focus = 0;
    for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
      if (!shape.slots[slot].focus) continue;
      row.focus[focus++] = static_cast<std::uint32_t>(rng.below(nodes[slot]));
    }
    for (float& x : row.node_features) x = uniform_float(rng, -3, 3);
    for (float& x : row.globals) x = uniform_float(rng, 0, 1);
    for (float& x : row.candidates) x = uniform_float(rng, 0, 1);
    for (std::uint32_t& node : row.candidate_nodes) {
      node = static_cast<std::uint32_t>(rng.below(nodes[*shape.node_slot]));
    }
    for (std::uint8_t& valid : row.mask) valid = static_cast<std::uint8_t>(rng.below(2));
    row.mask[rng.below(row.mask.size())] = 1;
    if (!row.agent.empty()) {
      row.agent[0] =
          static_cast<std::uint16_t>(rng.below(static_cast<std::uint64_t>(shape.agents)));
    }
  }
  return batch;
}

// Decisions on graphs 0 .. num_graphs - 1 with uniform globals and candidates, and masks with at
// least one valid action.
inline Observations random_batch(Rng& rng, const NetworkShape& shape, std::size_t size,
                                 std::size_t num_graphs) {
  Observations batch(input_shape(shape));
  for (std::size_t b = 0; b < size; ++b) {
    RowLengths lengths;
    if (shape.candidates_vary) {
      lengths.candidates =
          1 + static_cast<std::uint32_t>(rng.below(static_cast<std::uint64_t>(shape.actions)));
    }
    const ObservationRow row = batch.append(lengths);
    row.graph[0] = static_cast<std::uint16_t>(rng.below(num_graphs));
    for (float& x : row.globals) x = uniform_float(rng, 0, 1);
    for (float& x : row.candidates) x = uniform_float(rng, 0, 1);
    for (std::uint8_t& valid : row.mask) valid = static_cast<std::uint8_t>(rng.below(2));
    row.mask[rng.below(row.mask.size())] = 1;
  }
  return batch;
}

}  // namespace pacml::model

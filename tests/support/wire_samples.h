#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/rng.h"
#include "common/wire/frame.h"
#include "common/wire/messages.h"

// Messages for tests of the wire. Functions of their generator alone.

namespace pacml::testing {

inline float random_float(Rng& rng) { return static_cast<float>(rng.normal()); }

inline EpisodeRecord random_episode(Rng& rng) {
  const auto count = [&rng] { return static_cast<std::int64_t>(rng.below(100)); };
  EpisodeRecord episode{rng.normal(), count(), {}};
  for (double& metric : episode.metrics) metric = rng.normal();
  return episode;
}

// Of any small shape: every kind of column is there now and then.
inline ObservationShape random_shape(Rng& rng) {
  ObservationShape shape;
  const auto sometimes = [&rng] { return rng.below(3) == 0; };
  for (std::uint64_t left = 1 + rng.below(3); left > 0; --left) {
    auto& slot = shape.slots.emplace_back();
    if (sometimes()) slot.dynamic_width = static_cast<std::uint32_t>(1 + rng.below(3));
    slot.focus = sometimes();
  }
  shape.globals = static_cast<std::uint32_t>(rng.below(4));
  shape.candidates = static_cast<std::uint32_t>(1 + rng.below(5));
  shape.candidates_vary = sometimes();
  if (sometimes()) shape.candidate_width = static_cast<std::uint32_t>(1 + rng.below(3));
  shape.candidates_name_nodes = sometimes();
  if (sometimes()) shape.agents = static_cast<std::uint32_t>(2 + rng.below(3));
  return shape;
}

// A valid row more; of the actions at least one, at random. `graph_nodes`: of every graph, where
// features are of all their nodes.
inline void append_random_row(Observations& out, Rng& rng,
                              std::optional<std::uint32_t> graph_nodes = {}) {
  const ObservationShape& shape = out.shape();
  std::vector<std::uint32_t> nodes;
  for (const auto& slot : shape.slots) {
    if (slot.dynamic_width == 0) continue;
    nodes.push_back(graph_nodes ? *graph_nodes : static_cast<std::uint32_t>(rng.below(4)));
  }
  const ObservationRow row = out.append(
      {.candidates = static_cast<std::uint32_t>(1 + rng.below(shape.candidates)), .nodes = nodes});
  for (auto& graph : row.graph) graph = static_cast<std::uint16_t>(rng.below(out.graphs().size()));
  for (auto& node : row.focus) node = static_cast<std::uint32_t>(rng.below(9));
  for (auto& node : row.candidate_nodes) node = static_cast<std::uint32_t>(rng.below(9));
  for (const auto values : {row.node_features, row.globals, row.candidates}) {
    for (float& value : values) value = random_float(rng);
  }
  for (auto& valid : row.mask) valid = static_cast<std::uint8_t>(rng.below(2));
  row.mask[rng.below(row.mask.size())] = 1;
  for (auto& agent : row.agent) agent = static_cast<std::uint16_t>(rng.below(shape.agents));
}

// Of a random shape, with some graphs and valid rows.
inline Observations random_observations(Rng& rng, std::size_t rows) {
  Observations out(random_shape(rng));
  std::vector<GraphHash> graphs;
  for (std::uint64_t left = 1 + rng.below(3); left > 0; --left) graphs.emplace_back(rng.next());
  out.set_graphs(std::move(graphs));
  for (; rows > 0; --rows) append_random_row(out, rng);
  return out;
}

// Any action that the mask allows.
inline std::int32_t random_action(std::span<const std::uint8_t> mask, Rng& rng) {
  std::size_t action = rng.below(mask.size());
  while (mask[action] == 0) action = (action + 1) % mask.size();
  return static_cast<std::int32_t>(action);
}

// Valid, of any small shape; every column non-trivial. Now and then of nothing.
inline Sequences random_sequences(Rng& rng) {
  Sequences s;
  std::size_t decisions = 0;
  for (std::uint64_t left = rng.below(5); left > 0; --left) {
    s.lengths.push_back(static_cast<std::uint32_t>(1 + rng.below(5)));
    s.first_step.push_back(static_cast<std::uint32_t>(rng.below(100)));
    decisions += s.lengths.back();
  }
  resize_columns(s, {.sequences = s.size(),
                     .decisions = decisions,
                     .episodes = rng.below(3),
                     .elapsed = rng.below(2) == 0});
  s.observations = random_observations(rng, s.num_rows());
  std::size_t row = 0;
  std::size_t i = 0;
  for (const std::uint32_t length : s.lengths) {
    const auto agent = static_cast<std::uint16_t>(rng.below(s.observations.shape().agents));
    for (std::size_t r = row; r <= row + length; ++r) {
      for (auto& decides : s.observations.row(r).agent) decides = agent;
    }
    std::uint64_t version = rng.below(1000);
    for (const std::size_t end = i + length; i < end; ++i, ++row) {
      s.action[i] = static_cast<std::int16_t>(random_action(s.observations.mask(row), rng));
      s.behaviour_log_prob[i] = -static_cast<float>(rng.uniform());
      s.reward[i] = random_float(rng);
      s.flags[i] = static_cast<std::uint8_t>(rng.below(8) < 4 ? 0 : rng.below(4));
      s.append_version(PolicyVersion{version += rng.below(2)});
      if (s.flags[i] == Sequences::kTruncated) append_random_row(s.observations, rng);
    }
    ++row;
  }
  if (rng.below(2) == 0) {
    row = 0;
    for (const std::uint32_t length : s.lengths) {
      for (std::uint32_t t = 0; t < length; ++t, ++row) {
        for (const std::uint8_t valid : s.observations.mask(row)) {
          if (valid != 0) s.action_values.push_back(random_float(rng));
        }
      }
      ++row;
    }
  }
  for (float& elapsed : s.elapsed) elapsed = 0.25F + static_cast<float>(rng.uniform());
  for (auto& e : s.episodes) e = random_episode(rng);
  return s;
}

// Valid; at least one.
inline Transitions random_transitions(Rng& rng) {
  Transitions out;
  const std::size_t count = 1 + rng.below(6);
  out.observations = random_observations(rng, 2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    TransitionHead& head = out.heads.emplace_back();
    head.policy_version = PolicyVersion{rng.below(1000)};
    head.n_step_return = random_float(rng);
    head.discount = rng.below(4) == 0 ? 0.0F : static_cast<float>(rng.uniform());
    head.action = random_action(out.observations.mask(Transitions::state(i)), rng);
    head.discounted_time = static_cast<float>(1 + rng.below(3)) / 2;
  }
  return out;
}

inline wire::Insert random_insert(Rng& rng) {
  wire::Insert m{ActorId{static_cast<std::uint32_t>(rng.next())},
                 Incarnation{rng.next()},
                 Sequence{1 + rng.below(1000)},
                 {random_transitions(rng), {}, {}}};
  for (std::size_t i = 0; i < m.batch.transitions.size(); ++i) {
    m.batch.priorities.push_back(random_float(rng));
  }
  for (std::uint64_t left = rng.below(3); left > 0; --left) {
    m.batch.episodes.push_back(random_episode(rng));
  }
  return m;
}

inline wire::Samples random_samples(Rng& rng) {
  wire::Samples m{rng.next(), random_transitions(rng), {}, {}, {}, {}};
  for (std::size_t i = 0; i < m.transitions.size(); ++i) {
    m.keys.push_back(rng.next());
    m.probabilities.push_back(1 - rng.uniform());
  }
  m.shard = {rng.below(1000), 100 * rng.uniform(), rng.next()};
  for (std::uint64_t left = rng.below(3); left > 0; --left) {
    m.episodes.push_back(random_episode(rng));
  }
  return m;
}

inline wire::Graph random_graph(Rng& rng) {
  wire::Graph g;
  g.hash = GraphHash{rng.next()};
  g.num_nodes = static_cast<std::uint32_t>(1 + rng.below(5));
  g.num_edges = static_cast<std::uint32_t>(rng.below(5));
  g.node_width = static_cast<std::uint32_t>(rng.below(4));
  g.edge_width = static_cast<std::uint32_t>(rng.below(3));
  for (std::uint32_t i = 0; i < g.num_nodes * g.node_width; ++i) {
    g.node_features.push_back(random_float(rng));
  }
  for (std::uint32_t i = 0; i < g.num_edges * g.edge_width; ++i) {
    g.edge_features.push_back(random_float(rng));
  }
  for (std::uint32_t i = 0; i < g.num_edges; ++i) {
    g.edge_src.push_back(static_cast<std::int32_t>(rng.below(g.num_nodes)));
    g.edge_dst.push_back(static_cast<std::int32_t>(rng.below(g.num_nodes)));
  }
  return g;
}

inline std::string random_bytes(Rng& rng, std::uint64_t longest) {
  std::string text(rng.below(longest + 1), '\0');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}

// Numbers of every length in MessagePack.
inline std::uint64_t random_number(Rng& rng) { return rng.next() >> rng.below(64); }

// Message number `type` of wire::Message.
inline wire::Message random_message(Rng& rng, std::size_t type) {
  using namespace wire;
  switch (type) {
    case 0:
      return Hello{static_cast<Role>(1 + rng.below(3)),
                   ActorId{static_cast<std::uint32_t>(rng.next())},
                   Incarnation{random_number(rng)},
                   random_number(rng),
                   random_bytes(rng, 300),
                   random_bytes(rng, 40),
                   random_bytes(rng, 40),
                   static_cast<std::uint32_t>(rng.next()),
                   1 + static_cast<std::uint32_t>(rng.below(4096)),
                   1 + static_cast<std::uint32_t>(rng.below(256))};
    case 1:
      return Welcome{
          random_bytes(rng, 40),  Seed{random_number(rng)},
          random_number(rng),     PolicyVersion{random_number(rng)},
          random_number(rng),     1 + static_cast<std::uint32_t>(random_number(rng) >> 33),
          Incarnation{rng.next()}};
    case 2:
      return Refused{static_cast<Refusal>(1 + rng.below(6)), random_bytes(rng, 300),
                     Incarnation{rng.next()}};
    case 3:
      return Experience{ActorId{static_cast<std::uint32_t>(rng.next())},
                        Incarnation{random_number(rng)}, Sequence{1 + random_number(rng) / 2},
                        random_sequences(rng)};
    case 4:
      return Credit{random_number(rng), Sequence{random_number(rng)},
                    1 + static_cast<std::uint32_t>(random_number(rng) >> 33)};
    case 5:
      return GetWeights{PolicyVersion{random_number(rng)}};
    case 6: {
      Weights weights{PolicyVersion{random_number(rng)}, random_number(rng), {}};
      for (std::uint64_t left = rng.below(20); left > 0; --left) {
        weights.values.push_back(random_float(rng));
      }
      return weights;
    }
    case 7:
      return WeightsAnnouncement{PolicyVersion{random_number(rng)}, random_number(rng)};
    case 8:
      return NeedGraph{GraphHash{random_number(rng)}};
    case 9:
      return random_graph(rng);
    case 10:
      return Ping{random_number(rng)};
    case 11:
      return Pong{random_number(rng)};
    case 12:
      return Goodbye{random_bytes(rng, 300)};
    case 13:
      return random_insert(rng);
    case 14:
      return Sample{random_number(rng), static_cast<std::uint32_t>(1 + rng.below(1024))};
    case 15:
      return random_samples(rng);
    case 16: {
      PriorityUpdates updates;
      for (std::uint64_t left = rng.below(20); left > 0; --left) {
        updates.keys.push_back(rng.next());
        updates.priorities.push_back(random_float(rng));
      }
      return updates;
    }
    case 17:
      return GetStatus{};
    default:
      return Status{random_bytes(rng, 300)};
  }
}

// Frames as one run of bytes, for corpus files: each part is a u32 length and that many bytes. Any
// bytes are a frame: a length that is too long takes what is left.
inline Bytes flatten(const wire::Frame& frame) {
  Bytes out;
  for (const Bytes& part : frame.parts) {
    for (int shift = 0; shift < 32; shift += 8) out.push_back(std::byte(part.size() >> shift));
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

inline wire::Frame unflatten(std::span<const std::byte> bytes) {
  wire::Frame frame;
  while (bytes.size() >= 4) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length |= static_cast<std::size_t>(bytes[i]) << (8 * i);
    }
    bytes = bytes.subspan(4);
    const auto part = bytes.first(std::min(length, bytes.size()));
    frame.parts.emplace_back(part.begin(), part.end());
    bytes = bytes.subspan(part.size());
  }
  return frame;
}

}  // namespace pacml::testing

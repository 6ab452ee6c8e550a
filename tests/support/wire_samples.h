#pragma once

#include <algorithm>
#include <cstdint>
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
  return {rng.normal(), count(), count(), count(), count()};
}

// Valid, of any small shape; every column non-trivial.
inline Unrolls random_unrolls(Rng& rng) {
  Unrolls u;
  u.steps = static_cast<std::uint32_t>(1 + rng.below(5));
  u.environments = static_cast<std::uint32_t>(1 + rng.below(4));
  u.num_globals = static_cast<std::uint32_t>(rng.below(4));
  u.num_actions = static_cast<std::uint32_t>(1 + rng.below(5));
  const auto graphs = static_cast<std::uint32_t>(1 + rng.below(3));
  resize_columns(u, graphs, 0, rng.below(3));
  const auto random_row = [&](std::vector<std::uint16_t>& graph, std::vector<float>& globals,
                              std::vector<std::uint8_t>& mask, std::size_t row) {
    graph[row] = static_cast<std::uint16_t>(rng.below(graphs));
    for (std::size_t g = 0; g < u.num_globals; ++g) {
      globals[row * u.num_globals + g] = random_float(rng);
    }
    for (std::size_t a = 0; a < u.num_actions; ++a) {
      mask[row * u.num_actions + a] = static_cast<std::uint8_t>(rng.below(2));
    }
    mask[row * u.num_actions + rng.below(u.num_actions)] = 1;
  };
  for (auto& hash : u.graphs) hash = GraphHash{rng.next()};
  for (std::size_t row = 0; row < u.graph.size(); ++row) {
    random_row(u.graph, u.globals, u.mask, row);
  }
  for (std::size_t i = 0; i < u.num_decisions(); ++i) {
    std::uint64_t action = rng.below(u.num_actions);
    while (u.mask[i * u.num_actions + action] == 0) action = (action + 1) % u.num_actions;
    u.action[i] = static_cast<std::int16_t>(action);
    u.behaviour_log_prob[i] = -static_cast<float>(rng.uniform());
    u.reward[i] = random_float(rng);
    u.flags[i] = static_cast<std::uint8_t>(rng.below(8) < 4 ? 0 : rng.below(4));
    if (u.flags[i] == Unrolls::kTruncated) {
      u.last_states.step.push_back(static_cast<std::uint32_t>(i));
    }
  }
  resize_columns(u, graphs, u.last_states.step.size(), u.episodes.size());
  for (std::size_t row = 0; row < u.last_states.step.size(); ++row) {
    random_row(u.last_states.graph, u.last_states.globals, u.last_states.mask, row);
  }
  std::uint64_t version = rng.below(1000);
  for (auto& v : u.policy_version) v = PolicyVersion{version += rng.below(2)};
  for (auto& e : u.episodes) e = random_episode(rng);
  return u;
}

// Valid; at least one row.
inline Transitions random_transitions(Rng& rng) {
  Transitions out;
  out.shape = {static_cast<std::uint32_t>(rng.below(4)),
               static_cast<std::uint32_t>(1 + rng.below(5))};
  const auto graphs = 1 + rng.below(3);
  for (std::uint64_t i = 0; i < graphs; ++i) out.graphs.emplace_back(rng.next());
  for (std::uint64_t left = 1 + rng.below(6); left > 0; --left) {
    std::vector<float> globals[2];
    std::vector<std::uint8_t> masks[2];
    const auto action = rng.below(out.shape.num_actions);
    for (const std::size_t state : {0, 1}) {
      for (std::uint32_t g = 0; g < out.shape.num_globals; ++g) {
        globals[state].push_back(random_float(rng));
      }
      for (std::uint32_t a = 0; a < out.shape.num_actions; ++a) {
        masks[state].push_back(a == action ? 1 : static_cast<std::uint8_t>(rng.below(2)));
      }
    }
    TransitionHead head;
    head.policy_version = PolicyVersion{rng.below(1000)};
    head.n_step_return = random_float(rng);
    head.discount = rng.below(4) == 0 ? 0.0F : static_cast<float>(rng.uniform());
    head.graph = static_cast<std::uint16_t>(rng.below(graphs));
    head.next_graph = static_cast<std::uint16_t>(rng.below(graphs));
    head.action = static_cast<std::int16_t>(action);
    head.steps = static_cast<std::uint16_t>(1 + rng.below(3));
    out.append(head, {0, globals[0], masks[0]}, {0, globals[1], masks[1]});
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
                   1 + static_cast<std::uint32_t>(random_number(rng) >> 33),
                   1 + static_cast<std::uint32_t>(random_number(rng) >> 33)};
    case 1:
      return Welcome{
          random_bytes(rng, 40), Seed{random_number(rng)},
          random_number(rng),    PolicyVersion{random_number(rng)},
          random_number(rng),    1 + static_cast<std::uint32_t>(random_number(rng) >> 33)};
    case 2:
      return Refused{static_cast<Refusal>(1 + rng.below(6)), random_bytes(rng, 300),
                     Incarnation{rng.next()}};
    case 3:
      return Experience{ActorId{static_cast<std::uint32_t>(rng.next())},
                        Incarnation{random_number(rng)}, Sequence{1 + random_number(rng) / 2},
                        random_unrolls(rng)};
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

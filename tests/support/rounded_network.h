#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/layout.h"
#include "model/network_config.h"
#include "model/network_constants.h"
#include "model/parameters.h"
#include "tests/support/rounding.h"

// The network of network_config.h written down again, one decision, one node and one number at a
// time, with nothing shared between decisions but the weights: an independent statement of what
// implementations compute and differentiate, which says how much rounding may change.
namespace pacml::model {

// Numbers that remember where they came from (reverse-mode differentiation), each operation rounded
// as `rounding` does.
class Tape {
 public:
  using Index = std::size_t;
  struct Var {
    Index index = 0;
  };

  // One calculation takes over the memory of the one before it: there are many, of millions of
  // operations each.
  explicit Tape(Rounding& rounding) : rounding_(&rounding), nodes_(std::move(spare())) {
    nodes_.clear();
  }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape() { spare() = std::move(nodes_); }

  Var constant(double value) { return push(value, 0, 0, 0, 0); }
  Var add(Var a, Var b) { return push(round(at(a) + at(b)), a.index, 1, b.index, 1); }
  Var subtract(Var a, Var b) { return push(round(at(a) - at(b)), a.index, 1, b.index, -1); }
  Var multiply(Var a, Var b) { return push(round(at(a) * at(b)), a.index, at(b), b.index, at(a)); }
  Var scale(Var a, double factor) { return push(round(at(a) * factor), a.index, factor, 0, 0); }
  Var relu(Var a) { return push(std::max(at(a), 0.0), a.index, at(a) > 0 ? 1 : 0, 0, 0); }
  // Of equals the first.
  [[nodiscard]] Var maximum(Var a, Var b) const { return at(b) > at(a) ? b : a; }
  // 1 / sqrt(a + epsilon)
  Var inverse_root(Var a, double epsilon) {
    const double root = round(std::sqrt(round(at(a) + epsilon)));
    const double inverse = round(1 / root);
    return push(inverse, a.index, round(-0.5 * inverse * inverse * inverse), 0, 0);
  }

  [[nodiscard]] double at(Var v) const { return nodes_[v.index].value; }

  // Adjoints of everything on the tape, given those of some.
  [[nodiscard]] std::vector<double> backward(std::vector<double> adjoints) {
    for (Index i = nodes_.size(); i-- > 0;) {
      const Node& node = nodes_[i];
      if (adjoints[i] == 0) continue;
      const auto pass = [&](Index to, double derivative) {
        if (derivative == 0) return;
        adjoints[to] = round(adjoints[to] + round(adjoints[i] * derivative));
      };
      pass(node.a, node.da);
      pass(node.b, node.db);
    }
    return adjoints;
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    double value;
    Index a;
    double da;  // derivative with respect to a
    Index b;
    double db;
  };
  static std::vector<Node>& spare() {
    static std::vector<Node> nodes;
    return nodes;
  }
  double round(double x) { return (*rounding_)(x); }
  Var push(double value, Index a, double da, Index b, double db) {
    nodes_.push_back({value, a, da, b, db});
    return {nodes_.size() - 1};
  }

  Rounding* rounding_;
  std::vector<Node> nodes_;
};

class RoundedNetwork {
 public:
  using Var = Tape::Var;
  using Vars = std::vector<Var>;

  RoundedNetwork(const NetworkShape& shape, const Parameters& parameters, Rounding& rounding)
      : shape_(shape), layout_(make_layout(shape)), tape_(rounding) {
    // The first on the tape, in the layout's order.
    for (const float value : parameters.values) static_cast<void>(tape_.constant(value));
  }

  struct Decision {
    Vars logits;  // of all actions, masked ones too; head: candidates says nothing of those
    Var value;
  };

  // head: perceptron. `graphs`: those that rows refer to; read where a slot has an encoder.
  [[nodiscard]] Decision decide_perceptron(const Observations& batch, std::size_t b,
                                           const std::vector<env::GraphFeaturesPtr>& graphs) {
    Vars seen = constants(batch.globals(b));
    append(seen, look(batch, b, graphs).values);
    const Vars hidden = relu(linear("second", relu(linear("first", seen))));
    return {linear("logits", hidden), linear("value", hidden).front()};
  }

  // head: candidates, where the features of candidates and the globals are read as they are.
  // `graphs`: as decide_perceptron's.
  [[nodiscard]] Decision decide_candidates(const Observations& batch, std::size_t b,
                                           const std::vector<env::GraphFeaturesPtr>& graphs = {}) {
    const auto [context, candidate_nodes] = look(batch, b, graphs);
    const auto features = batch.candidates(b);
    const std::size_t width = batch.shape().candidate_width;
    Decision out{Vars(batch.mask(b).size()), {}};
    std::vector<Vars> candidates;
    for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
      if (batch.mask(b)[a] == 0) continue;
      Vars inputs = constants(features.subspan(a * width, width));
      if (!candidate_nodes.empty()) append(inputs, candidate_nodes[batch.candidate_nodes(b)[a]]);
      append(inputs, context);
      const Vars hidden = relu(linear("first", inputs));
      candidates.push_back(relu(linear("second", hidden)));
      out.logits[a] = product("logits", candidates.back());
    }
    Vars situation = constants(batch.globals(b));
    append(situation, context);
    Vars seen = relu(linear("situation", situation));
    append(seen, mean(candidates));
    append(seen, maxima(candidates));
    out.value = linear("value", relu(linear("state", seen))).front();
    return out;
  }

  [[nodiscard]] Decision decide(const Observations& batch, std::size_t b,
                                const env::GraphFeatures& graph) {
    return decide(batch, b, embed(graph));
  }

  // Of row b, on a graph with this embedding.
  [[nodiscard]] Decision decide(const Observations& batch, std::size_t b, const Vars& embedding) {
    Vars inputs;
    for (const float global : batch.globals(b)) inputs.push_back(tape_.constant(global));
    for (const std::uint8_t valid : batch.mask(b)) {
      inputs.push_back(tape_.constant(valid != 0 ? 1.0 : 0.0));
    }
    Vars joined = embedding;
    const Vars decision = layer("graph", inputs);
    joined.insert(joined.end(), decision.begin(), decision.end());
    const Vars hidden = relu(linear("readout", joined));
    return {linear("logits", hidden), linear("value", hidden).front()};
  }

  // By whichever head the network has.
  [[nodiscard]] Decision decide_row(const Observations& batch, std::size_t b,
                                    const std::vector<env::GraphFeaturesPtr>& graphs) {
    switch (shape_.config.head) {
      case HeadKind::kCandidates:
        return decide_candidates(batch, b, graphs);
      case HeadKind::kPerceptron:
        return decide_perceptron(batch, b, graphs);
      case HeadKind::kDense:
        break;
    }
    return decide(batch, b, *graphs[batch.graph(b)]);
  }

  // The mean of a graph's node embeddings.
  [[nodiscard]] Vars embed(const env::GraphFeatures& graph) {
    std::vector<Vars> nodes;
    for (int v = 0; v < graph.num_nodes; ++v) {
      nodes.push_back(row(graph.node_features, v, graph.node_width));
    }
    for (int r = 0; r < shape_.config.rounds; ++r) {
      nodes = pass_messages("round" + std::to_string(r) + ".", graph, nodes,
                            static_cast<std::size_t>(round_output_width(shape_.config, r)));
    }
    return mean(nodes);
  }

  [[nodiscard]] double at(Var v) const { return tape_.at(v); }

  // Of sum over d, a of logit_gradients[d][a] * logits[d][a] + value_gradients[d] * value[d] with
  // respect to each parameter, in the layout's order; masked logits do not count.
  [[nodiscard]] std::vector<double> gradients(const std::vector<Decision>& decisions,
                                              const Observations& batch,
                                              std::span<const float> logit_gradients,
                                              std::span<const float> value_gradients) {
    std::vector<double> adjoints(tape_.size(), 0.0);
    for (std::size_t b = 0; b < decisions.size(); ++b) {
      adjoints[decisions[b].value.index] = value_gradients[b];
      for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
        if (batch.mask(b)[a] == 0) continue;
        adjoints[decisions[b].logits[a].index] = logit_gradients[b * batch.num_candidates() + a];
      }
    }
    adjoints = tape_.backward(std::move(adjoints));
    adjoints.resize(layout_.total);
    return adjoints;
  }

 private:
  // What heads read of a decision's graphs.
  struct Context {
    Vars values;
    std::vector<Vars> candidate_nodes;
  };
  [[nodiscard]] Context look(const Observations& batch, std::size_t b,
                             const std::vector<env::GraphFeaturesPtr>& graphs) {
    Context out;
    for (std::size_t slot = 0; slot < shape_.slots.size(); ++slot) {
      const SlotShape& read = shape_.slots[slot];
      if (!read.encoder) continue;
      const env::GraphFeatures& graph = *graphs[batch.graph(b, slot)];
      std::vector<Vars> nodes;
      if (read.encoder->kind == EncoderKind::kTwoWay) {
        nodes = encode_two_way(slot, graph, batch, b);
        const auto focus =
            read.focus ? std::optional<std::size_t>(batch.focus(b, slot)) : std::nullopt;
        append(out.values, look_around("encoder." + read.encoder->slot + ".", graph, nodes, focus));
      } else {
        nodes = encode(slot, graph, batch, b);
        append(out.values, mean(nodes));
        append(out.values, maxima(nodes));
      }
      if (read.focus) append(out.values, nodes[batch.focus(b, slot)]);
      if (shape_.node_slot == slot) out.candidate_nodes = nodes;
    }
    for (int agent = 0; agent < shape_.known_agents(); ++agent) {
      out.values.push_back(tape_.constant(agent == batch.agent(b) ? 1.0 : 0.0));
    }
    return out;
  }

  static void append(Vars& row, const Vars& more) {
    row.insert(row.end(), more.begin(), more.end());
  }
  void accumulate(Vars& sum, const Vars& more) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = tape_.add(sum[i], more[i]);
  }
  // Two layers with a relu behind each.
  Vars twice(const std::string& name, const Vars& x) {
    return relu(linear(name + "1", relu(linear(name + "0", x))));
  }

  // encoders/encoder_config.h, kind: two_way; every round anew from each node.
  [[nodiscard]] std::vector<Vars> encode_two_way(std::size_t slot, const env::GraphFeatures& graph,
                                                 const Observations& batch, std::size_t b) {
    const SlotShape& read = shape_.slots[slot];
    const std::string name = "encoder." + read.encoder->slot + ".";
    const auto nodes = static_cast<std::size_t>(graph.num_nodes);
    const auto fixed = static_cast<std::size_t>(graph.node_width);
    const auto changing = static_cast<std::size_t>(read.dynamic_width);
    std::vector<Vars> base;
    for (std::size_t v = 0; v < nodes; ++v) {
      Vars x = constants(std::span(graph.node_features).subspan(v * fixed, fixed));
      append(x, constants(batch.node_features(b, slot).subspan(v * changing, changing)));
      base.push_back(
          linear(name + "base2", relu(linear(name + "base1", relu(linear(name + "base0", x))))));
    }
    std::vector<Vars> out(nodes);
    for (const bool forward : {true, false}) {
      const std::string from = name + (forward ? "predecessors" : "successors");
      const auto& hears = forward ? graph.edge_dst : graph.edge_src;
      const auto& says = forward ? graph.edge_src : graph.edge_dst;
      std::vector<Vars> x = base;
      for (int round = 0; round < read.encoder->blocks; ++round) {
        std::vector<Vars> next = base;
        for (std::size_t v = 0; v < nodes; ++v) {
          std::optional<Vars> sum;
          for (std::size_t e = 0; e < hears.size(); ++e) {
            if (hears[e] != static_cast<int>(v)) continue;
            const Vars term = twice(from + ".term", x[static_cast<std::size_t>(says[e])]);
            if (sum) {
              accumulate(*sum, term);
            } else {
              sum = term;
            }
          }
          if (sum) accumulate(next[v], twice(from + ".total", *sum));
        }
        x = std::move(next);
      }
      for (std::size_t v = 0; v < nodes; ++v) append(out[v], x[v]);
    }
    return out;
  }

  // Without the focus itself.
  [[nodiscard]] Vars look_around(const std::string& name, const env::GraphFeatures& graph,
                                 const std::vector<Vars>& nodes, std::optional<std::size_t> focus) {
    const std::size_t count = nodes.size();
    // Ways of any length, by trying again until nothing new is found.
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
    for (bool found = true; found;) {
      found = false;
      for (std::size_t e = 0; e < graph.edge_src.size(); ++e) {
        const auto u = static_cast<std::size_t>(graph.edge_src[e]);
        const auto v = static_cast<std::size_t>(graph.edge_dst[e]);
        for (std::size_t from = 0; from < count; ++from) {
          if ((from != u && !reaches[from][u]) || reaches[from][v]) continue;
          reaches[from][v] = true;
          found = true;
        }
      }
    }
    const auto pooled = [&](const std::string& set, auto is_member) {
      Vars sum(nodes.front().size(), tape_.constant(0));
      for (std::size_t v = 0; v < count; ++v) {
        if (is_member(v)) accumulate(sum, twice(name + set + ".term", nodes[v]));
      }
      return twice(name + set + ".total", sum);
    };
    if (!focus) return pooled("all", [](std::size_t) { return true; });
    const std::size_t own = *focus;
    const auto is_above = [&](std::size_t v) { return v != own && reaches[v][own]; };
    const auto is_below = [&](std::size_t v) { return v != own && reaches[own][v]; };
    Vars out = pooled("ancestors", is_above);
    append(out, pooled("descendants", is_below));
    append(out, pooled("others",
                       [&](std::size_t v) { return v != own && !is_above(v) && !is_below(v); }));
    return out;
  }
  Vars maxima(const std::vector<Vars>& rows) {
    Vars out = rows.front();
    for (const Vars& row : rows) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = tape_.maximum(out[i], row[i]);
    }
    return out;
  }

  // encoders/encoder_config.h, node by node and edge by edge.
  [[nodiscard]] std::vector<Vars> encode(std::size_t slot, const env::GraphFeatures& graph,
                                         const Observations& batch, std::size_t b) {
    const EncoderConfig& config = *shape_.slots[slot].encoder;
    const std::string name = "encoder." + config.slot + ".";
    const auto nodes = static_cast<std::size_t>(graph.num_nodes);
    const auto read = [this](float x) {
      return tape_.constant(x < 0 ? -std::log1p(-x) : std::log1p(x));
    };
    const auto features_of = [&](std::span<const float> all, std::size_t row, int width) {
      Vars out;
      const auto count = static_cast<std::size_t>(width);
      for (const float x : all.subspan(row * count, count)) out.push_back(read(x));
      return out;
    };
    std::vector<Vars> h;
    for (std::size_t v = 0; v < nodes; ++v) {
      Vars x = features_of(graph.node_features, v, graph.node_width);
      append(x, features_of(batch.node_features(b, slot), v, shape_.slots[slot].dynamic_width));
      h.push_back(linear(name + "input", x));
    }
    for (int block = 0; block < config.blocks; ++block) {
      const std::string layers = name + "block" + std::to_string(block) + ".";
      std::vector<Vars> n;
      for (const Vars& row : h) n.push_back(norm(layers + "self_norm", row));
      for (std::size_t v = 0; v < nodes; ++v) {
        Vars sum = linear(layers + "self", n[v]);
        for (const bool forward : {true, false}) {
          if (config.kind == EncoderKind::kDeepSet) continue;
          const std::string from = layers + (forward ? "predecessors" : "successors");
          std::vector<Vars> heard;
          for (std::size_t e = 0; e < graph.edge_src.size(); ++e) {
            const auto to =
                static_cast<std::size_t>(forward ? graph.edge_dst[e] : graph.edge_src[e]);
            const auto by =
                static_cast<std::size_t>(forward ? graph.edge_src[e] : graph.edge_dst[e]);
            if (to != v) continue;
            Vars message = linear(from, n[by]);
            if (graph.edge_width > 0) {
              const Vars f = features_of(graph.edge_features, e, graph.edge_width);
              for (std::size_t i = 0; i < message.size(); ++i) {
                message[i] = tape_.add(message[i], product(from + "_edge", f, i));
              }
            }
            heard.push_back(relu(message));
          }
          if (heard.empty()) continue;
          const Vars average = mean(heard);
          for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = tape_.add(sum[i], average[i]);
        }
        const Vars change = linear(layers + "output", relu(sum));
        for (std::size_t i = 0; i < change.size(); ++i) h[v][i] = tape_.add(h[v][i], change[i]);
      }
    }
    for (Vars& row : h) row = norm(name + "output_norm", row);
    return h;
  }

  [[nodiscard]] std::vector<Vars> pass_messages(const std::string& round,
                                                const env::GraphFeatures& graph,
                                                const std::vector<Vars>& nodes, std::size_t width) {
    std::vector<std::vector<Vars>> received(nodes.size());
    std::vector<Vars> node_half;
    for (const Vars& node : nodes) node_half.push_back(relu(layer(round + "node", node)));
    const auto receive = [&](std::size_t v, Vars message, const Vars& edge_half) {
      message.insert(message.end(), edge_half.begin(), edge_half.end());
      received[v].push_back(relu(layer(round + "reduce", message)));
    };
    for (int e = 0; e < graph.num_edges; ++e) {
      const auto edge = static_cast<std::size_t>(e);
      receive(static_cast<std::size_t>(graph.edge_dst[edge]),
              node_half[static_cast<std::size_t>(graph.edge_src[edge])],
              relu(layer(round + "edge", row(graph.edge_features, e, graph.edge_width))));
    }
    const Vars nothing(static_cast<std::size_t>(shape_.config.message_width / 2),
                       tape_.constant(0));
    std::vector<Vars> next;
    for (std::size_t v = 0; v < nodes.size(); ++v) {
      if (received[v].empty()) {  // no incoming edge
        next.emplace_back(width, tape_.constant(0));
        continue;
      }
      receive(v, node_half[v], nothing);
      next.push_back(mean(received[v]));
    }
    return next;
  }

  Vars row(const std::vector<float>& values, int index, int width) {
    Vars out;
    for (int i = 0; i < width; ++i) {
      out.push_back(tape_.constant(values[static_cast<std::size_t>(index * width + i)]));
    }
    return out;
  }
  Var mean(const Vars& values) {
    Var sum = values.front();
    for (std::size_t i = 1; i < values.size(); ++i) sum = tape_.add(sum, values[i]);
    return tape_.scale(sum, 1 / static_cast<double>(values.size()));
  }
  Vars mean(const std::vector<Vars>& rows) {
    Vars out;
    for (std::size_t i = 0; i < rows.front().size(); ++i) {
      Vars column;
      for (const Vars& one : rows) column.push_back(one[i]);
      out.push_back(mean(column));
    }
    return out;
  }
  Vars relu(Vars values) {
    for (Var& value : values) value = tape_.relu(value);
    return values;
  }
  [[nodiscard]] std::size_t first_of(const std::string& name) const {
    return std::ranges::find(layout_.entries, name, &ParameterEntry::name)->offset;
  }
  Vars constants(std::span<const float> values) {
    Vars out;
    for (const float value : values) out.push_back(tape_.constant(value));
    return out;
  }
  // One output of W x.
  Var product(const std::string& name, const Vars& x, std::size_t output = 0) {
    const std::size_t weight = first_of(name + ".weight") + output * x.size();
    Var sum = tape_.multiply(Var{weight}, x[0]);
    for (std::size_t i = 1; i < x.size(); ++i) {
      sum = tape_.add(sum, tape_.multiply(Var{weight + i}, x[i]));
    }
    return sum;
  }
  Vars linear(const std::string& name, const Vars& x) {
    const std::size_t weight = first_of(name + ".weight");
    const std::size_t bias = first_of(name + ".bias");
    const std::size_t outputs = (bias - weight) / x.size();
    Vars out;
    for (std::size_t o = 0; o < outputs; ++o) {
      Var sum{bias + o};
      for (std::size_t i = 0; i < x.size(); ++i) {
        sum = tape_.add(sum, tape_.multiply(Var{weight + o * x.size() + i}, x[i]));
      }
      out.push_back(sum);
    }
    return out;
  }
  // As libraries do it, x / deviation - mean / deviation: of all ways the one that cancels most.
  Vars norm(const std::string& name, const Vars& x) {
    const Var centre = mean(x);
    Vars squares;
    for (const Var value : x) {
      const Var from_centre = tape_.subtract(value, centre);
      squares.push_back(tape_.multiply(from_centre, from_centre));
    }
    const Var inverse = tape_.inverse_root(mean(squares), kNormEpsilon);
    const Var shift = tape_.multiply(centre, inverse);
    const std::size_t weight = first_of(name + ".weight");
    const std::size_t bias = first_of(name + ".bias");
    Vars normed;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Var unit = tape_.subtract(tape_.multiply(x[i], inverse), shift);
      normed.push_back(tape_.add(tape_.multiply(unit, Var{weight + i}), Var{bias + i}));
    }
    return normed;
  }
  Vars layer(const std::string& name, const Vars& x) {
    return linear(name, norm(name + "_norm", x));
  }

  NetworkShape shape_;
  ParameterLayout layout_;
  Tape tape_;
};

}  // namespace pacml::model

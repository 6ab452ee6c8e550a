#include "env/cost_graph/read_cost_graph.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>

#include "common/result.h"
#include "env/cost_graph/cost_graph.pb.h"

namespace pacml::env {
namespace {

using google::protobuf::TextFormat;

// A message takes some hundred bytes of memory, and five of text.
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
constexpr std::ptrdiff_t kMostMessages = 5'000'000;
constexpr int kMostDepth = 16;  // of a graph: 3

// Keeps the first thing that is wrong.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!what_.empty()) return;
    place_ = ":" + std::to_string(line + 1) + ":" + std::to_string(column + 1);
    what_ = message;
  }
  void AddWarning(int /*line*/, google::protobuf::io::ColumnNumber /*column*/,
                  const std::string& /*message*/) override {}

  [[nodiscard]] UserError of(const std::string& name) const {
    return UserError(name + place_ + ": " + (what_.empty() ? "it is no graph of costs" : what_));
  }

 private:
  std::string place_;
  std::string what_;
};

std::string read_all(std::istream& in, const std::string& name) {
  std::string text;
  std::string piece(std::size_t{1} << 20U, '\0');
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMostBytes) throw UserError(name + ": it is longer than 64 MiB");
  }
  if (std::ranges::count_if(text, [](char c) { return c == '{' || c == '<'; }) > kMostMessages) {
    throw UserError(name + ": it has more than five million parts");
  }
  return text;
}

cost_graph::Graph parse(std::istream& in, const std::string& name) {
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);  // shapes, types, other sizes
  parser.SetRecursionLimit(kMostDepth);
  cost_graph::Graph graph;
  if (!parser.ParseFromString(read_all(in, name), &graph)) throw error.of(name);
  if (graph.node().empty()) throw UserError(name + ": it has no nodes");
  return graph;
}

// Ids of nodes to their places.
class Places {
 public:
  Places(const cost_graph::Graph& graph, const std::string& name) : name_(name) {
    const bool has_ids =
        std::ranges::any_of(graph.node(), [](const auto& node) { return node.id() != 0; });
    std::int32_t place = 0;
    for (const auto& node : graph.node()) {
      const std::int32_t id = has_ids ? node.id() : place;
      if (!places_.emplace(id, place++).second) {
        throw UserError(name + ": two nodes have the id " + std::to_string(id));
      }
    }
  }
  [[nodiscard]] std::int32_t of(std::int32_t id, const std::string& consumer) const {
    if (const auto found = places_.find(id); found != places_.end()) return found->second;
    throw UserError(name_ + ": node " + consumer + " has an input from node " + std::to_string(id) +
                    ", which is not there");
  }

 private:
  std::string name_;
  std::map<std::int32_t, std::int32_t> places_;
};

double as_size(std::int64_t bytes) { return static_cast<double>(std::max<std::int64_t>(0, bytes)); }

OpSpec op_of(const cost_graph::Graph::Node& node) {
  OpSpec op;
  op.name = node.name();
  op.cost_us = static_cast<double>(node.compute_cost());
  for (const auto& output : node.output_info()) op.output_bytes.push_back(as_size(output.size()));
  op.kept_bytes = as_size(node.persistent_memory_size());
  return op;
}

}  // namespace

OpGraphSpec read_cost_graph(std::istream& in, const std::string& name,
                            const OpGraphLimits& limits) {
  const cost_graph::Graph graph = parse(in, name);
  if (static_cast<std::size_t>(graph.node().size()) > limits.max_ops) {
    throw UserError(name + ": it has " + std::to_string(graph.node().size()) +
                    " nodes, more than " + std::to_string(limits.max_ops));
  }
  const Places places(graph, name);
  OpGraphSpec spec;
  for (const auto& node : graph.node()) {
    const auto consumer = static_cast<std::int32_t>(spec.ops.size());
    for (const auto& input : node.input_info()) {
      if (input.preceding_port() < 0) {
        throw UserError(name + ": node " + node.name() + " has an input from a port below 0");
      }
      spec.edges.push_back(
          {places.of(input.preceding_node(), node.name()), input.preceding_port(), consumer});
    }
    std::set<std::int32_t> has_data;  // from these: data wins
    for (const auto& input : node.input_info()) has_data.insert(input.preceding_node());
    for (const std::int32_t id : node.control_input()) {
      const std::int32_t producer = places.of(id, node.name());
      if (has_data.contains(id)) continue;
      // Behind its outputs: nothing is sent.
      spec.edges.push_back({producer, graph.node(producer).output_info().size(), consumer});
    }
    if (spec.edges.size() > limits.max_edges) {
      throw UserError(name + ": it has more than " + std::to_string(limits.max_edges) + " inputs");
    }
    spec.ops.push_back(op_of(node));
  }
  return spec;
}

}  // namespace pacml::env

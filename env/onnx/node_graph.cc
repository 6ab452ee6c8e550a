#include "env/onnx/node_graph.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <queue>
#include <set>
#include <utility>

#include "common/index.h"
#include "env/onnx/onnx_call.h"
#include "env/onnx/operators.h"
#include "env/onnx/refuse_model.h"

namespace pacml::env {
namespace {

// What a graph reads of the one around it, each once.
void add_free_names(const onnx::GraphProto& graph, std::set<std::string_view>& names) {
  std::set<std::string_view> read;
  std::set<std::string_view> own;
  for (const onnx::ValueInfoProto& info : graph.input()) own.insert(info.name());
  for (const onnx::TensorProto& stored : graph.initializer()) own.insert(stored.name());
  for (const onnx::NodeProto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    own.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) add_free_names(attribute.g(), read);
    }
  }
  for (const onnx::ValueInfoProto& info : graph.output()) read.insert(info.name());
  own.insert(std::string_view());  // an input that is left out
  std::ranges::set_difference(read, own, std::inserter(names, names.end()));
}

// ... the graphs of a node, of an operator that is not known by itself.
std::vector<std::string_view> read_by_graphs_of(const onnx::NodeProto& node) {
  std::set<std::string_view> names;
  if (find_operator(node.domain(), node.op_type()) != nullptr) return {};
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) add_free_names(attribute.g(), names);
  }
  return {names.begin(), names.end()};
}

}  // namespace

NodeGraph::NodeGraph(const onnx::GraphProto& graph, const std::string& source,
                     const TensorTable& given)
    : graph_(graph), source_(source) {
  name_outputs(given);
  order_ = sorted(live_nodes(given));
}

std::span<const std::string_view> NodeGraph::captured(int node) const {
  const auto found = captured_.find(node);
  if (found == captured_.end()) return {};
  return found->second;
}

void NodeGraph::name_outputs(const TensorTable& given) {
  if (graph_.node_size() > kMostNodes) refuse_model(source_, "it has more than 200 000 nodes");
  for (int i = 0; i < graph_.node_size(); ++i) {
    for (const std::string& output : graph_.node(i).output()) {
      if (output.empty()) continue;
      if (!producer_.emplace(output, i).second || given.contains(output)) {
        refuse_model(source_, "tensor \"" + printable(output) + "\" is given twice");
      }
    }
  }
  for (const onnx::ValueInfoProto& info : graph_.output()) outputs_.insert(info.name());
  if (outputs_.empty()) refuse_model(source_, "it has no output");
  for (int i = 0; i < graph_.node_size(); ++i) {
    std::vector<std::string_view> names = read_by_graphs_of(graph_.node(i));
    if (!names.empty()) captured_.emplace(i, std::move(names));
  }
}

std::vector<bool> NodeGraph::live_nodes(const TensorTable& given) {
  std::vector<bool> is_live(static_cast<std::size_t>(graph_.node_size()), false);
  std::vector<std::string_view> open(outputs_.begin(), outputs_.end());
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    wanted_.insert(name);
    const auto made = producer_.find(name);
    if (made == producer_.end()) {
      static_cast<void>(given.find(name));  // or it is nowhere
      continue;
    }
    if (is_live[at(made->second)]) continue;
    is_live[at(made->second)] = true;
    for (const std::string& input : graph_.node(made->second).input()) {
      if (!input.empty()) open.emplace_back(input);
    }
    std::ranges::copy(captured(made->second), std::back_inserter(open));
  }
  return is_live;
}

// Kahn's algorithm.
std::vector<int> NodeGraph::sorted(const std::vector<bool>& is_live) const {
  const auto nodes = static_cast<std::size_t>(graph_.node_size());
  std::vector<std::vector<int>> readers(nodes);
  std::vector<int> pending(nodes, 0);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  std::size_t num_live = 0;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (!is_live[i]) continue;
    ++num_live;
    const auto wait_for = [&](std::string_view input) {
      const auto made = producer_.find(input);
      if (made == producer_.end()) return;
      readers[at(made->second)].push_back(static_cast<int>(i));
      ++pending[i];
    };
    std::ranges::for_each(graph_.node(static_cast<int>(i)).input(), wait_for);
    std::ranges::for_each(captured(static_cast<int>(i)), wait_for);
    if (pending[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> sorted;
  while (!ready.empty()) {
    sorted.push_back(ready.top());
    ready.pop();
    for (const int reader : readers[at(sorted.back())]) {
      if (--pending[at(reader)] == 0) ready.push(reader);
    }
  }
  if (sorted.size() < num_live) {
    const auto stuck = std::ranges::find_if(pending, [](int left) { return left > 0; });
    const onnx::NodeProto& node = graph_.node(static_cast<int>(stuck - pending.begin()));
    refuse_model(source_, "the graph has a cycle through or before " + printable(node.op_type()) +
                              " \"" + printable(node.name()) + "\"");
  }
  return sorted;
}

}  // namespace pacml::env

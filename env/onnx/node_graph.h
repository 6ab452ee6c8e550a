#pragma once

#include <onnx/onnx_pb.h>

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "env/onnx/tensor_table.h"

namespace pacml::env {

inline constexpr int kMostNodes = 200'000;

// Which nodes of a graph lead to its outputs, and in what order. Borrows the graph. Immutable.
class NodeGraph {
 public:
  // `given`: initialisers and inputs. UserError: more than 200 000 nodes, a tensor that is given
  // twice, or is read and given by nothing; no output; a cycle.
  NodeGraph(const onnx::GraphProto& graph, const std::string& source, const TensorTable& given);

  // The nodes that lead to an output, each behind what it reads; as near to the file's order as
  // that goes.
  [[nodiscard]] std::span<const int> order() const { return order_; }
  // What the graphs of a branch or a loop read of the graph around it, each once.
  [[nodiscard]] std::span<const std::string_view> captured(int node) const;
  // Whether somebody reads a tensor, ...
  [[nodiscard]] bool is_wanted(std::string_view name) const { return wanted_.contains(name); }
  // ... whoever runs the model.
  [[nodiscard]] bool is_output(std::string_view name) const { return outputs_.contains(name); }

 private:
  void name_outputs(const TensorTable& given);
  [[nodiscard]] std::vector<bool> live_nodes(const TensorTable& given);
  [[nodiscard]] std::vector<int> sorted(const std::vector<bool>& is_live) const;

  const onnx::GraphProto& graph_;
  const std::string& source_;
  std::unordered_map<std::string_view, int> producer_;               // of a tensor
  std::unordered_map<int, std::vector<std::string_view>> captured_;  // by node, where there is any
  std::unordered_set<std::string_view> wanted_;
  std::unordered_set<std::string_view> outputs_;
  std::vector<int> order_;
};

}  // namespace pacml::env

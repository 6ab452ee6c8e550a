#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "env/onnx/imported_ops.h"
#include "env/onnx/model_inputs.h"
#include "env/onnx/node_graph.h"
#include "env/onnx/onnx_call.h"
#include "env/onnx/operators.h"
#include "env/onnx/parameter_sources.h"
#include "env/onnx/tensor_table.h"
#include "env/onnx/unknown_outputs.h"

namespace pacml::env {

// Makes of each node what it is to a training step: constants that are computed beforehand, a view,
// or an operation. Borrows graph, source and nodes. Thread-confined.
class NodeImporter {
 public:
  // `tensors`: initialisers and inputs; `sources`: of the initialisers.
  NodeImporter(const onnx::GraphProto& graph, const std::string& source, const NodeGraph& nodes,
               ModelInputs inputs, TensorTable tensors, ParameterSources sources);
  ~NodeImporter() = default;
  NodeImporter(const NodeImporter&) = delete;
  NodeImporter& operator=(const NodeImporter&) = delete;

  // The inputs' operations, and those of all nodes in their order. UserError: as OnnxOperator's
  // rules and TensorTable::add; a node reads what nobody gave. Once.
  [[nodiscard]] std::vector<ImportedOp> run() &&;

 private:
  void run(int place);
  void add_constants(const OnnxCall& call, const OnnxOperator* rule, shapes::Outputs outputs);
  void add_view(const OnnxCall& call, OnnxTensor view);
  void add_op(const OnnxCall& call, const OnnxOperator* rule, shapes::Outputs outputs);
  [[nodiscard]] bool is_used(const std::string& name) const;
  [[nodiscard]] shapes::Outputs used_outputs(const OnnxCall& call, shapes::Outputs outputs) const;

  const onnx::GraphProto& graph_;
  const std::string& source_;
  const NodeGraph& nodes_;
  ModelInputs inputs_;
  TensorTable tensors_;
  ParameterSources sources_;
  UnknownOutputs unknown_;
  std::vector<ImportedOp> ops_;
};

}  // namespace pacml::env

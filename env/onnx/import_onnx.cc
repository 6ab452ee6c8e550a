#include "env/onnx/import_onnx.h"

#include <algorithm>
#include <utility>

#include "env/onnx/inline_functions.h"
#include "env/onnx/model_inputs.h"
#include "env/onnx/node_graph.h"
#include "env/onnx/node_importer.h"
#include "env/onnx/onnx_call.h"
#include "env/onnx/onnx_file.h"
#include "env/onnx/parameter_sources.h"
#include "env/onnx/refuse_model.h"
#include "env/onnx/tensor_table.h"

namespace pacml::env {
namespace {

void read_initialisers(const onnx::GraphProto& graph, const std::string& source,
                       TensorTable& tensors, ParameterSources& sources) {
  for (const onnx::TensorProto& stored : graph.initializer()) {
    if (stored.dims_size() > static_cast<int>(kMostAxes)) {
      refuse_model(source, "tensor \"" + printable(stored.name()) + "\" has too many axes");
    }
    OnnxTensor& added =
        tensors.add(stored.name(), {.type = stored.data_type(),
                                    .extents = {stored.dims().begin(), stored.dims().end()},
                                    .is_constant = true});
    added.values = values_of(stored);
    sources.add(added, true);
  }
}

std::set<std::string> printable_names(const std::set<std::string>& names) {
  std::set<std::string> lines;
  for (const std::string& name : names) lines.insert(printable(name));
  return lines;
}

ImportedModel import_graph(const onnx::GraphProto& graph, const std::string& source,
                           const OnnxImport& setting) {
  TensorTable tensors(source);
  ParameterSources sources;
  read_initialisers(graph, source, tensors, sources);
  ModelInputs inputs = read_inputs(graph, source, setting, tensors);
  const NodeGraph nodes(graph, source, tensors);
  ImportedModel model;
  model.batch = inputs.batch;
  model.batch_axes = printable_names(inputs.batch_axes);
  std::vector<ImportedOp> ops =
      NodeImporter(graph, source, nodes, std::move(inputs), std::move(tensors), std::move(sources))
          .run();
  if (std::ranges::all_of(ops, [](const ImportedOp& op) { return op.inputs.empty(); })) {
    refuse_model(source, "no operation of it depends on its inputs");
  }
  model.ops = with_one_end(without_unread_data(std::move(ops)));
  return model;
}

std::string origin_of(const onnx::ModelProto& model) {
  std::int64_t version = 0;
  for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") version = set.version();
  }
  std::string text = "ONNX operator set " + std::to_string(version);
  if (!model.producer_name().empty()) {
    text += " of " + printable(model.producer_name());
    if (!model.producer_version().empty()) text += " " + printable(model.producer_version());
  }
  return text;
}

}  // namespace

double ImportedModel::parameters() const {
  double sum = 0;
  for (const ImportedOp& op : ops) sum += op.parameters;
  return sum;
}

double ImportedModel::multiply_adds() const {
  double sum = 0;
  for (const ImportedOp& op : ops) sum += op.multiply_adds;
  return sum / static_cast<double>(batch);
}

ImportedModel import_onnx(std::istream& in, const std::string& source, const OnnxImport& setting) {
  onnx::ModelProto model = read_onnx_model(in, source);
  inline_functions(model, source);
  ImportedModel imported = import_graph(model.graph(), source, setting);
  imported.origin = origin_of(model);
  return imported;
}

}  // namespace pacml::env

#include "env/onnx/node_importer.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "common/index.h"
#include "env/onnx/refuse_model.h"

namespace pacml::env {
namespace {

// What exporters write where the type is only known to them as another tensor's.
bool casts_to_its_own_type(const OnnxCall& call, const shapes::Outputs& outputs) {
  const std::string& type = call.node().op_type();
  return (type == "Cast" || type == "CastLike") && outputs.front().type == call.in(0).type;
}

}  // namespace

NodeImporter::NodeImporter(const onnx::GraphProto& graph, const std::string& source,
                           const NodeGraph& nodes, ModelInputs inputs, TensorTable tensors,
                           ParameterSources sources)
    : graph_(graph),
      source_(source),
      nodes_(nodes),
      inputs_(std::move(inputs)),
      tensors_(std::move(tensors)),
      sources_(std::move(sources)),
      unknown_(graph_, inputs_.extents, source_),
      ops_(std::move(inputs_.ops)) {}

std::vector<ImportedOp> NodeImporter::run() && {
  for (const int node : nodes_.order()) run(node);
  return std::move(ops_);
}

void NodeImporter::run(int place) {
  const onnx::NodeProto& node = graph_.node(place);
  std::vector<const OnnxTensor*> inputs;
  for (const std::string& input : node.input()) {
    inputs.push_back(input.empty() ? nullptr : &tensors_.find(input));
  }
  for (const std::string_view name : nodes_.captured(place)) {
    inputs.push_back(&tensors_.find(name));
  }
  const OnnxOperator* rule = find_operator(node.domain(), node.op_type());
  const OnnxCall call(source_, node, inputs);
  shapes::Outputs outputs = rule != nullptr ? rule->outputs(call) : unknown_.of(call);
  outputs.resize(std::max(outputs.size(), call.num_outputs()),
                 outputs.empty() ? OnnxTensor{} : outputs.front());
  const std::size_t reads = rule != nullptr ? std::min(rule->reads, inputs.size()) : inputs.size();
  const bool is_known = std::ranges::all_of(
      std::span(inputs).first(reads),
      [](const OnnxTensor* input) { return input == nullptr || input->is_constant; });
  if (is_known) {
    add_constants(call, rule, std::move(outputs));
  } else if (rule != nullptr && (rule->cost == nullptr || casts_to_its_own_type(call, outputs))) {
    add_view(call, std::move(outputs.front()));
  } else {
    add_op(call, rule, std::move(outputs));
  }
}

void NodeImporter::add_constants(const OnnxCall& call, const OnnxOperator* rule,
                                 shapes::Outputs outputs) {
  for (std::size_t i = 0; i < call.num_outputs(); ++i) {
    tensors_.check(outputs[i], call.node().output(static_cast<int>(i)));
  }
  if (rule != nullptr && rule->values != nullptr) rule->values(call, outputs);
  const std::vector<int> weights = weights_of(call, rule);
  const std::string& type = call.node().op_type();
  const bool is_shape = type == "Shape" || type == "Size";
  const bool is_made = call.inputs().empty() || type == "ConstantOfShape";
  for (std::size_t i = 0; i < call.num_outputs(); ++i) {
    const std::string& name = call.node().output(static_cast<int>(i));
    if (name.empty()) continue;
    outputs[i].is_constant = true;
    if (!is_shape && !is_made) outputs[i].weights = weights;
    OnnxTensor& added = tensors_.add(name, std::move(outputs[i]));
    if (is_made) sources_.add(added, false);
  }
}

// Of the first input, whatever it is.
void NodeImporter::add_view(const OnnxCall& call, OnnxTensor view) {
  const OnnxTensor& viewed = call.in(0);
  view.op = viewed.op;
  view.repeats = viewed.repeats;
  view.needs_gradient = viewed.needs_gradient;
  if (viewed.is_constant) {
    refuse_model(source_, "a view of a constant cannot depend on data");
  }
  if (call.num_outputs() == 0) return;
  const std::string& name = call.node().output(0);
  ImportedOp& maker = ops_[at(view.op)];
  maker.is_output = maker.is_output || nodes_.is_output(name);
  tensors_.add(name, std::move(view));
}

void NodeImporter::add_op(const OnnxCall& call, const OnnxOperator* rule, shapes::Outputs outputs) {
  const onnx::NodeProto& node = call.node();
  ImportedOp op;
  const bool is_foreign = rule == nullptr && !node.domain().empty();
  op.type = printable(is_foreign ? node.domain() + "::" + node.op_type() : node.op_type());
  op.costed_as = rule == nullptr ? kUnknownCost : rule->costed_as;
  op.is_small = rule != nullptr && rule->is_small;
  // With what of the constants is trained here.
  std::vector<OnnxTensor> trained(call.inputs().size());
  std::vector<const OnnxTensor*> inputs = call.inputs();
  bool needs_gradient = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    if (sources_.claim(*inputs[i], rule == nullptr ? Trained::kParameters : rule->trained, i, op)) {
      trained[i] = *inputs[i];
      trained[i].needs_gradient = true;
      inputs[i] = &trained[i];
    }
    needs_gradient = needs_gradient || inputs[i]->needs_gradient;
    if (inputs[i]->op >= 0 && std::ranges::find(op.inputs, inputs[i]->op) == op.inputs.end()) {
      op.inputs.push_back(inputs[i]->op);
    }
  }
  outputs = used_outputs(call, std::move(outputs));
  for (OnnxTensor& output : outputs) {
    output.repeats = inputs_.repeats;
    output.op = static_cast<int>(ops_.size());
    output.needs_gradient = needs_gradient && is_floating(output.type);
  }
  const bool turns_back = std::ranges::any_of(outputs, &OnnxTensor::needs_gradient);
  const OnnxCall costed(source_, node, std::move(inputs));
  const OnnxCost cost =
      rule == nullptr ? cost_of_unknown(costed, outputs) : rule->cost(costed, outputs);
  op.work = cost.work;
  if (!turns_back) op.work.backward = {};
  op.multiply_adds = cost.multiply_adds;
  op.description = op.type + "(" + to_text(outputs[0].extents) + ")" +
                   (node.name().empty() ? "" : " " + printable(node.name()));
  for (const OnnxTensor& output : outputs) op.output_bytes += output.bytes();
  std::size_t next = 0;
  for (const std::string& name : node.output()) {
    if (is_used(name)) tensors_.add(name, outputs[next++]);
    op.is_output = op.is_output || nodes_.is_output(name);
  }
  ops_.push_back(std::move(op));
}

bool NodeImporter::is_used(const std::string& name) const {
  return !name.empty() && nodes_.is_wanted(name);
}

// The outputs that somebody reads, checked. A live node has one.
shapes::Outputs NodeImporter::used_outputs(const OnnxCall& call, shapes::Outputs outputs) const {
  shapes::Outputs used;
  for (std::size_t i = 0; i < call.num_outputs(); ++i) {
    const std::string& name = call.node().output(static_cast<int>(i));
    if (!is_used(name)) continue;
    tensors_.check(outputs[i], name);
    used.push_back(std::move(outputs[i]));
  }
  return used;
}

}  // namespace pacml::env

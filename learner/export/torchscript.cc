#include "learner/export/torchscript.h"

#include <ATen/ATen.h>
#include <torch/script.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "common/atomic_file.h"
#include "common/check.h"
#include "common/json_text.h"
#include "learner/export/policy_inputs.h"
#include "learner/export/reference_cases.h"
#include "learner/export/tensor_program.h"
#include "model/layout.h"
#include "model/network_constants.h"

namespace pacml::learner {
namespace {

// A name of a weight as the module knows it: attributes' names have no dots.
std::string attribute_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

// torch.float32, which has no name in source that is compiled here.
const std::string kFloat = std::to_string(static_cast<int>(at::kFloat));

std::string number(float value) {
  std::ostringstream out;
  out.precision(9);
  out << value;
  return out.str();
}

// The methods that operations need more than an expression for.
std::string helpers() {
  return R"(
def reciprocal(self, x: Tensor) -> Tensor:
    return torch.where(x > 0, 1.0 / x, torch.zeros_like(x))

def group_sum(self, rows: Tensor, group: Tensor, groups: int) -> Tensor:
    zeros = torch.zeros([groups, rows.size(1)], dtype=rows.dtype, device=rows.device)
    return zeros.index_add(0, group, rows)

def group_max(self, rows: Tensor, group: Tensor, groups: int) -> Tensor:
    sizes : List[int] = torch.bincount(group, minlength=groups).tolist()
    parts : List[Tensor] = []
    for part in torch.split_with_sizes(rows, sizes, 0):
        parts.append(torch.amax(part, [0]))
    return torch.stack(parts, 0)
)";
}

std::string joined(std::span<const std::string> parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

// An operation as an expression. `x`: its operands, as expressions too.
std::string expression(const TensorOperation& operation, std::span<const std::string> x) {
  const std::string count = std::to_string(operation.number);
  switch (operation.op) {
    case TensorOp::kLinear:
      return "torch.linear(" + x[0] + ", " + x[1] + (x.size() > 2 ? ", " + x[2] : "") + ")";
    case TensorOp::kNorm:
      return "torch.layer_norm(" + x[0] + ", [" + x[0] + ".size(1)], " + x[1] + ", " + x[2] + ", " +
             number(model::kNormEpsilon) + ")";
    case TensorOp::kRelu:
      return "torch.relu(" + x[0] + ")";
    case TensorOp::kSquash:
      return "torch.sign(" + x[0] + ") * torch.log1p(torch.abs(" + x[0] + "))";
    case TensorOp::kAdd:
      return x[0] + " + " + x[1];
    case TensorOp::kMultiply:
      return x[0] + " * " + x[1];
    case TensorOp::kIncrement:
      return x[0] + " + 1.0";
    case TensorOp::kPositive:
      return "(" + x[0] + " > 0).to(" + x[0] + ".dtype)";
    case TensorOp::kReciprocal:
      return "self.reciprocal(" + x[0] + ")";
    case TensorOp::kConcat:
      return "torch.cat([" + joined(x) + "], 1)";
    case TensorOp::kPad:
      return "torch.constant_pad_nd(" + x[0] + ", [0, " + count + "])";
    case TensorOp::kTake:
      return x[0] + ".index_select(0, " + x[1] + ")";
    case TensorOp::kOnes:
      return "torch.ones([" + x[0] + ".size(0), 1], dtype=" + kFloat + ", device=" + x[0] +
             ".device)";
    case TensorOp::kOneHot:
      return "torch.one_hot(" + x[0] + ", " + count + ").to(" + kFloat + ")";
    case TensorOp::kGroupSum:
      return "self.group_sum(" + x[0] + ", " + x[1] + ", " + x[2] + ".size(0))";
    case TensorOp::kGroupMax:
      return "self.group_max(" + x[0] + ", " + x[1] + ", " + x[2] + ".size(0))";
    case TensorOp::kToFloat:
      return "(" + x[0] + " > 0).to(" + kFloat + ")";
    case TensorOp::kMask:
      return x[0] + ".masked_fill((" + x[1] + " > 0).logical_not(), " +
             number(model::kMaskedLogit) + ")";
    case TensorOp::kSqueeze:
      return x[0] + ".squeeze(1)";
  }
  PACML_CHECK(false, "an operation of a tensor program");
}

std::string module_source(const model::NetworkShape& shape, std::span<const PolicyInput> inputs,
                          const model::ParameterLayout& layout) {
  std::set<std::string, std::less<>> weights;
  for (const model::ParameterEntry& entry : layout.entries) weights.insert(entry.name);
  std::string source = helpers() + "\ndef forward(self";
  for (const PolicyInput& input : inputs) source += ", " + input.name + ": Tensor";
  source += ") -> Tuple[Tensor, Tensor]:\n";
  for (const TensorOperation& operation : tensor_program(shape)) {
    std::vector<std::string> operands;
    for (const std::string& operand : operation.operands) {
      operands.push_back(weights.contains(operand) ? "self." + attribute_name(operand) : operand);
    }
    source += "    " + operation.result + " = " + expression(operation, operands) + "\n";
  }
  source += "    return logits, values\n";
  return source;
}

torch::jit::Module make_module(const PolicyExport& policy) {
  torch::jit::Module module("PacmlPolicy");
  const model::ParameterLayout layout = model::make_layout(policy.shape);
  for (const model::ParameterEntry& entry : layout.entries) {
    const auto values = model::view(policy.parameters, layout, entry.name);
    at::Tensor weight = at::empty(entry.shape, at::kFloat);
    std::ranges::copy(values, weight.data_ptr<float>());
    module.register_parameter(attribute_name(entry.name), weight, false);
  }
  const auto inputs = policy_inputs(policy.shape, policy.globals);
  const auto add = [&module](const std::string& name, std::size_t value) {
    module.register_attribute(name, c10::IntType::get(), static_cast<std::int64_t>(value));
  };
  for (const PolicyInput& input : inputs) {
    if (input.type == PolicyInput::Type::kFloat) add("num_" + input.name, input.width);
    if (input.type == PolicyInput::Type::kFlag) add("num_actions", input.width);
  }
  module.define(module_source(policy.shape, inputs, layout));
  module.eval();
  return module;
}

}  // namespace

Result<void> export_torchscript(const PolicyExport& policy, const std::filesystem::path& file) {
  const std::string metadata = json_text(nlohmann::json(export_metadata(policy)), 2);
  std::ostringstream bytes;
  make_module(policy).save(
      bytes, {{"metadata.json", metadata}, {"reference.json", reference_cases(policy)}});
  return write_file_atomically(file, bytes.str());
}

}  // namespace pacml::learner

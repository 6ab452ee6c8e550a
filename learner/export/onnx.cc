#include "learner/export/onnx.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "common/atomic_file.h"
#include "common/check.h"
#include "learner/export/policy_inputs.h"
#include "learner/export/reference_cases.h"
#include "learner/export/tensor_program.h"
#include "model/layout.h"
#include "model/network_constants.h"

namespace pacml::learner {
namespace {

using Name = std::string;

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie");

// The last operator set whose operators the runtimes of today and of two years ago all have;
// LayerNormalization came with it.
constexpr int kOperatorSet = 17;
constexpr int kIrVersion = 8;

// Less than every number of a network, and a number: what a maximum begins with.
constexpr float kLeast = -3.0e38F;

// A tensor program's operations in ONNX's operators.
class GraphWriter {
 public:
  explicit GraphWriter(onnx::GraphProto& graph) : graph_(graph) {}

  void add_weight(const model::ParameterEntry& entry, std::span<const float> values) {
    onnx::TensorProto& tensor = add_tensor(entry.name, onnx::TensorProto::FLOAT);
    for (const std::int64_t extent : entry.shape) tensor.add_dims(extent);
    tensor.set_raw_data(values.data(), values.size_bytes());
  }

  void add(const TensorOperation& operation) {
    result_ = operation.result;
    temporaries_ = 0;
    const auto& x = operation.operands;
    switch (operation.op) {
      case TensorOp::kLinear:
        flag("transB", node_as("Gemm", x));
        return;
      case TensorOp::kNorm: {
        onnx::NodeProto& norm = node_as("LayerNormalization", x);
        flag("axis", norm, -1);
        onnx::AttributeProto& epsilon = attribute("epsilon", norm, onnx::AttributeProto::FLOAT);
        epsilon.set_f(model::kNormEpsilon);
        return;
      }
      case TensorOp::kRelu:
        node_as("Relu", x);
        return;
      case TensorOp::kSquash:
        node_as("Mul", {node("Sign", x), node("Log", {node("Add", {node("Abs", x), number(1)})})});
        return;
      case TensorOp::kAdd:
        node_as("Add", x);
        return;
      case TensorOp::kMultiply:
        node_as("Mul", x);
        return;
      case TensorOp::kIncrement:
        node_as("Add", {x[0], number(1)});
        return;
      case TensorOp::kPositive:
        to_float(node_as("Cast", {node("Greater", {x[0], number(0)})}));
        return;
      case TensorOp::kReciprocal:
        node_as("Where",
                {node("Greater", {x[0], number(0)}), node("Reciprocal", {x[0]}), number(0)});
        return;
      case TensorOp::kConcat:
        flag("axis", node_as("Concat", x));
        return;
      case TensorOp::kPad:
        node_as("Pad", {x[0], integers({0, 0, 0, operation.number})});
        return;
      case TensorOp::kTake:
        node_as("Gather", x);
        return;
      case TensorOp::kOnes:
        ones(result_, x[0]);
        return;
      case TensorOp::kOneHot:
        node_as("OneHot", {x[0], integers({operation.number}), numbers({0, 1})});
        return;
      case TensorOp::kGroupSum:
        group_sum(result_, x[0], x[1], x[2]);
        return;
      case TensorOp::kGroupMax:
        group_max(x[0], x[1], x[2]);
        return;
      case TensorOp::kToFloat:
        to_float(node_as("Cast", x));
        return;
      case TensorOp::kMask:
        node_as("Where", {x[1], x[0], number(model::kMaskedLogit)});
        return;
      case TensorOp::kSqueeze:
        node_as("Squeeze", {x[0], integers({1})});
        return;
    }
    PACML_CHECK(false, "an operation of a tensor program");
  }

 private:
  onnx::NodeProto& add_node(const char* type, const std::vector<Name>& operands, Name output) {
    onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type(type);
    node.set_name(output);
    for (const Name& operand : operands) node.add_input(operand);
    node.add_output(std::move(output));
    return node;
  }
  // The operation's result,
  onnx::NodeProto& node_as(const char* type, const std::vector<Name>& operands) {
    return add_node(type, operands, result_);
  }
  // or what stands on the way to it.
  Name node(const char* type, const std::vector<Name>& operands) {
    return add_node(type, operands, temporary()).output(0);
  }
  Name temporary() { return result_ + "_" + std::to_string(temporaries_++); }

  static onnx::AttributeProto& attribute(const char* name, onnx::NodeProto& node,
                                         onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }
  static onnx::NodeProto& flag(const char* name, onnx::NodeProto& node, std::int64_t value = 1) {
    attribute(name, node, onnx::AttributeProto::INT).set_i(value);
    return node;
  }
  static void to_float(onnx::NodeProto& cast) { flag("to", cast, onnx::TensorProto::FLOAT); }

  onnx::TensorProto& add_tensor(const Name& name, onnx::TensorProto::DataType type) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    return tensor;
  }
  // Constants, one of a kind.
  Name numbers(const std::vector<float>& values) {
    Name name = "numbers";
    for (const float value : values) name += "_" + std::to_string(value);
    if (!constants_.insert(name).second) return name;
    onnx::TensorProto& tensor = add_tensor(name, onnx::TensorProto::FLOAT);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const float value : values) tensor.add_float_data(value);
    return name;
  }
  Name number(float value) { return numbers({value}); }
  Name integers(const std::vector<std::int64_t>& values) {
    Name name = "integers";
    for (const std::int64_t value : values) name += "_" + std::to_string(value);
    if (!constants_.insert(name).second) return name;
    onnx::TensorProto& tensor = add_tensor(name, onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return name;
  }

  // A tensor's extent along an axis, as a shape of one.
  Name extent(const Name& x, int axis) {
    onnx::NodeProto& shape = add_node("Shape", {x}, temporary());
    flag("start", shape, axis);
    return flag("end", shape, axis + 1).output(0);
  }
  Name shape_of(const std::vector<Name>& extents) {
    onnx::NodeProto& shape = add_node("Concat", extents, temporary());
    return flag("axis", shape, 0).output(0);
  }
  Name filled(const Name& output, const Name& shape, float value) {
    onnx::NodeProto& fill = add_node("ConstantOfShape", {shape}, output);
    onnx::TensorProto& tensor = *attribute("value", fill, onnx::AttributeProto::TENSOR).mutable_t();
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(1);
    tensor.add_float_data(value);
    return output;
  }
  Name column(const Name& indices) { return node("Unsqueeze", {indices, integers({1})}); }

  // A column as long as `like`.
  Name ones(const Name& output, const Name& like) {
    return filled(output, shape_of({extent(like, 0), integers({1})}), 1);
  }

  Name group_sum(const Name& output, const Name& rows, const Name& group, const Name& like) {
    const Name zeros = filled(temporary(), shape_of({extent(like, 0), extent(rows, 1)}), 0);
    const Name indices = node("Expand", {column(group), node("Shape", {rows})});
    onnx::NodeProto& sum = add_node("ScatterElements", {zeros, indices, rows}, output);
    flag("axis", sum, 0);
    attribute("reduction", sum, onnx::AttributeProto::STRING).set_s("add");
    return output;
  }

  // There is no scattered maximum before operator set 18. So each group's rows go into a table of
  // their own, as long as the largest group, and the maximum is taken over each.
  void group_max(const Name& rows, const Name& group, const Name& like) {
    const Name size = group_sum(temporary(), ones(temporary(), rows), group, like);
    onnx::NodeProto& cast = add_node("Cast", {size}, temporary());
    const Name sizes =
        node("Squeeze", {flag("to", cast, onnx::TensorProto::INT64).output(0), integers({1})});
    onnx::NodeProto& ends = add_node("CumSum", {sizes, scalar(0)}, temporary());
    const Name first = flag("exclusive", ends).output(0);
    const Name all = node("Squeeze", {extent(rows, 0), integers({0})});
    const Name place =
        node("Sub", {node("Range", {scalar(0), all, scalar(1)}), node("Gather", {first, group})});
    onnx::NodeProto& largest = add_node("ReduceMax", {sizes}, temporary());
    const Name most = flag("keepdims", largest, 1).output(0);
    const Name cell = node("Add", {node("Mul", {group, most}), place});
    const Name width = extent(rows, 1);
    const Name groups = extent(like, 0);
    const Name empty = filled(temporary(), shape_of({node("Mul", {groups, most}), width}), kLeast);
    const Name table = node("ScatterND", {empty, column(cell), rows});
    onnx::NodeProto& maximum =
        node_as("ReduceMax", {node("Reshape", {table, shape_of({groups, most, width})})});
    onnx::AttributeProto& axes = attribute("axes", maximum, onnx::AttributeProto::INTS);
    axes.add_ints(1);
    flag("keepdims", maximum, 0);
  }
  Name scalar(std::int64_t value) {
    const Name name = "scalar_" + std::to_string(value);
    if (constants_.insert(name).second) {
      add_tensor(name, onnx::TensorProto::INT64).add_int64_data(value);
    }
    return name;
  }

  onnx::GraphProto& graph_;
  std::set<Name> constants_;
  Name result_;
  int temporaries_ = 0;
};

// "servers edges" as the name of an extent.
std::string symbol(std::string rows) {
  std::ranges::replace(rows, ' ', '_');
  return rows;
}

onnx::TypeProto::Tensor& describe_tensor(onnx::ValueInfoProto& info, const std::string& name,
                                         std::int32_t type, const std::string& rows) {
  info.set_name(name);
  onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape()->add_dim()->set_dim_param(symbol(rows));
  return tensor;
}

void add_input(onnx::GraphProto& graph, const PolicyInput& input) {
  onnx::ValueInfoProto& info = *graph.add_input();
  const auto type = input.type == PolicyInput::Type::kFloat   ? onnx::TensorProto::FLOAT
                    : input.type == PolicyInput::Type::kIndex ? onnx::TensorProto::INT64
                                                              : onnx::TensorProto::BOOL;
  onnx::TypeProto::Tensor& tensor = describe_tensor(info, input.name, type, input.rows);
  if (input.type == PolicyInput::Type::kIndex) return;
  tensor.mutable_shape()->add_dim()->set_dim_value(static_cast<std::int64_t>(input.width));
  std::string columns;
  for (const FeatureSpec& column : input.columns) {
    columns += (columns.empty() ? "" : ", ") + column.name + " [" + column.unit + "]";
  }
  info.set_doc_string(columns);
}

void add_outputs(onnx::GraphProto& graph, const model::NetworkShape& shape) {
  const bool by_place = model::knows_places(shape.config.head);
  onnx::TypeProto::Tensor& logits =
      describe_tensor(*graph.add_output(), "logits", onnx::TensorProto::FLOAT,
                      by_place ? "decisions" : "candidates");
  if (by_place) logits.mutable_shape()->add_dim()->set_dim_value(shape.actions);
  describe_tensor(*graph.add_output(), "values", onnx::TensorProto::FLOAT, "decisions");
}

}  // namespace

std::string encode_onnx(const PolicyExport& policy) {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("pacml");
  onnx::OperatorSetIdProto& operators = *model.add_opset_import();
  operators.set_domain("");
  operators.set_version(kOperatorSet);
  auto metadata = export_metadata(policy);
  metadata["reference"] = reference_cases(policy);
  for (const auto& [key, value] : metadata) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }

  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("policy");
  for (const PolicyInput& input : policy_inputs(policy.shape, policy.globals)) {
    add_input(graph, input);
  }
  add_outputs(graph, policy.shape);
  GraphWriter writer(graph);
  const model::ParameterLayout layout = model::make_layout(policy.shape);
  for (const model::ParameterEntry& entry : layout.entries) {
    writer.add_weight(entry, model::view(policy.parameters, layout, entry.name));
  }
  for (const TensorOperation& operation : tensor_program(policy.shape)) {
    writer.add(operation);
  }
  std::string bytes;
  const bool written = model.SerializeToString(&bytes);
  PACML_CHECK(written, "a model within the 2 GiB of its format");
  return bytes;
}

Result<void> export_onnx(const PolicyExport& policy, const std::filesystem::path& file) {
  return write_file_atomically(file, encode_onnx(policy));
}

}  // namespace pacml::learner

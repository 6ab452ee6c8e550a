#include "env/onnx/operators.h"

#include <algorithm>
#include <map>
#include <string>

#include "env/onnx/constant_values.h"
#include "env/onnx/layout_shapes.h"

namespace pacml::env {
namespace {

using Tensors = std::span<const OnnxTensor>;

double bytes_of_element(const OnnxCall& call) { return element_bytes(call.in(0).type); }

double input_bytes(const OnnxCall& call) {
  double sum = 0;
  for (const OnnxTensor* input : call.inputs()) sum += input == nullptr ? 0 : input->bytes();
  return sum;
}
double output_bytes(Tensors outputs) {
  double sum = 0;
  for (const OnnxTensor& output : outputs) sum += output.bytes();
  return sum;
}

// As matrix products are: weights, where an operand is a constant, and data.
OnnxCost product(const OnnxCall& call, Tensors outputs, double multiply_adds) {
  zoo::Product product{.multiply_adds = multiply_adds,
                       .outputs = outputs[0].elements(),
                       .gradients = 0,
                       .element_bytes = bytes_of_element(call)};
  for (std::size_t i = 0; i < call.inputs().size(); ++i) {
    if (!call.has(i)) continue;
    const OnnxTensor& input = call.in(i);
    (input.is_constant ? product.weights : product.inputs) += input.elements();
    // A bias's gradient is a sum of what is there anyway.
    if (i < 2 && input.needs_gradient) ++product.gradients;
  }
  return {.work = zoo::product_work(product), .multiply_adds = multiply_adds};
}

OnnxCost convolution(const OnnxCall& call, Tensors outputs) {
  const OnnxTensor& w = call.in(1);
  return product(call, outputs,
                 outputs[0].elements() * product_of(w.extents) /
                     static_cast<double>(std::max<std::int64_t>(1, w.extents[0])));
}
OnnxCost transposed_convolution(const OnnxCall& call, Tensors outputs) {
  const OnnxTensor& w = call.in(1);
  return product(call, outputs,
                 call.in(0).elements() * product_of(w.extents) /
                     static_cast<double>(std::max<std::int64_t>(1, w.extents[0])));
}
OnnxCost gemm(const OnnxCall& call, Tensors outputs) {
  const std::size_t inner = call.flag("transA", false) ? 0 : 1;
  return product(call, outputs,
                 outputs[0].elements() * static_cast<double>(call.in(0).extents[inner]));
}
OnnxCost matmul(const OnnxCall& call, Tensors outputs) {
  return product(call, outputs,
                 outputs[0].elements() * static_cast<double>(call.in(0).extents.back()));
}
// As many as there are combinations of all letters.
OnnxCost einsum(const OnnxCall& call, Tensors outputs) {
  const shapes::EinsumLetters letters = shapes::einsum_letters(call);
  std::map<char, double> extents;
  for (std::size_t i = 0; i < letters.inputs.size(); ++i) {
    for (std::size_t axis = 0; axis < letters.inputs[i].size(); ++axis) {
      double& extent = extents[letters.inputs[i][axis]];
      extent = std::max(extent, static_cast<double>(call.in(i).extents[axis]));
    }
  }
  double combinations = outputs[0].repeats;
  for (const auto& [letter, extent] : extents) combinations *= extent;
  return product(call, outputs, combinations);
}

OnnxCost quantised_convolution(const OnnxCall& call, Tensors outputs) {
  return convolution(shapes::operands_of_quantised(call), outputs);
}
OnnxCost quantised_matmul(const OnnxCall& call, Tensors outputs) {
  return matmul(shapes::operands_of_quantised(call), outputs);
}
// Every query with every key, and what comes of it with every value; the softmax between them is
// taken to stay where it is made.
OnnxCost attention(const OnnxCall& call, Tensors outputs) {
  const shapes::Outputs all = shapes::attention(call);       // `outputs` are those that are read
  const auto keys = static_cast<double>(all[1].extents[2]);  // with those that were kept
  const double results = product_of(all[0].extents) * outputs[0].repeats;
  return product(call, outputs, (call.in(0).elements() + results) * keys);
}

OnnxCost recurrent(const OnnxCall& call, Tensors outputs) {
  const OnnxTensor& x = call.in(0);
  const Extents& w = call.in(1).extents;
  const Extents& r = call.in(2).extents;
  const double steps = static_cast<double>(x.extents[call.flag("layout", false) ? 1 : 0]);
  const double rows = x.elements() / static_cast<double>(std::max<std::int64_t>(1, x.extents[2]));
  const auto directions = static_cast<double>(w[0]);
  const double multiply_adds = rows * (product_of(w) + product_of(r));
  return {.work = zoo::recurrent_work({.directions = static_cast<int>(w[0]),
                                       .multiply_adds = multiply_adds,
                                       .inputs = x.elements(),
                                       .input_weights = product_of(w) / directions,
                                       .recurrent_weights = product_of(r) / directions,
                                       .steps = steps,
                                       .gates = rows * static_cast<double>(w[1]),
                                       .element_bytes = element_bytes(outputs[0].type)}),
          .multiply_adds = multiply_adds};
}

OnnxCost normalisation(const OnnxCall& call, Tensors /*outputs*/) {
  return {.work = zoo::normalisation_work(call.in(0).elements(), bytes_of_element(call))};
}
OnnxCost softmax(const OnnxCall& call, Tensors /*outputs*/) {
  return {.work = zoo::softmax_work(call.in(0).elements(), bytes_of_element(call))};
}
OnnxCost cross_entropy(const OnnxCall& call, Tensors /*outputs*/) {
  return {.work = zoo::cross_entropy_work(call.in(0).elements(), bytes_of_element(call))};
}

double window_of(const OnnxCall& call) {
  double window = 1;
  for (const std::int64_t extent : call.integers("kernel_shape", {}, 1, INT64_MAX)) {
    window *= static_cast<double>(extent);
  }
  return window;
}
OnnxCost max_pool(const OnnxCall& call, Tensors outputs) {
  return {.work = zoo::max_pool_work(call.in(0).elements(), outputs[0].elements(), window_of(call),
                                     bytes_of_element(call))};
}
OnnxCost average_pool(const OnnxCall& call, Tensors outputs) {
  zoo::LayerWork work =
      zoo::reduction_work(call.in(0).elements(), outputs[0].elements(), bytes_of_element(call));
  work.forward.flops = work.backward.flops = outputs[0].elements() * window_of(call);
  return {.work = work};
}
OnnxCost reduction(const OnnxCall& call, Tensors outputs) {
  return {.work = zoo::reduction_work(call.in(0).elements(), outputs[0].elements(),
                                      bytes_of_element(call))};
}

// Inputs are read and the output written; back, inputs and gradient are read and one written for
// each.
OnnxCost pointwise(const OnnxCall& call, Tensors outputs) {
  const double elements = std::max(1.0, outputs[0].elements());
  const double in = input_bytes(call);
  const double out = output_bytes(outputs);
  return {.work = zoo::pointwise_work(outputs[0].elements(), (in + out) / elements,
                                      (2 * in + out) / elements)};
}
// The gradient of a sum passes through: what costs is where gradients meet again.
OnnxCost sum(const OnnxCall& call, Tensors outputs) {
  const double elements = std::max(1.0, outputs[0].elements());
  const double moved = (input_bytes(call) + output_bytes(outputs)) / elements;
  return {.work = zoo::pointwise_work(outputs[0].elements(), moved, moved)};
}
// Both passes read and write, and touch the mask of what was kept.
OnnxCost dropout(const OnnxCall& call, Tensors /*outputs*/) {
  const double moved = 2 * bytes_of_element(call) + 1;
  return {.work = zoo::pointwise_work(call.in(0).elements(), moved, moved)};
}

OnnxCost copy(const OnnxCall& /*call*/, Tensors outputs) {
  double elements = 0;
  for (const OnnxTensor& output : outputs) elements += output.elements();
  return {.work = zoo::copy_work(elements, element_bytes(outputs[0].type))};
}
// Rows of a table, where the table is a constant.
OnnxCost gather(const OnnxCall& call, Tensors outputs) {
  if (!call.in(0).is_constant) return copy(call, outputs);
  const OnnxTensor& table = call.in(0);
  return {.work = zoo::lookup_work({.table = table.needs_gradient ? table.elements() : 0,
                                    .rows = call.in(1).elements(),
                                    .outputs = outputs[0].elements(),
                                    .element_bytes = bytes_of_element(call)})};
}

using Table = std::map<std::string_view, OnnxOperator>;

void add(Table& table, std::initializer_list<std::string_view> types, const OnnxOperator& entry) {
  for (const std::string_view type : types) table.emplace(type, entry);
}

void add_layers(Table& table) {
  constexpr std::string_view kProduct = "matrix product";
  add(table, {"Conv"}, {shapes::convolution, convolution, kProduct, Trained::kWeights});
  add(table, {"ConvTranspose"},
      {shapes::transposed_convolution, transposed_convolution, kProduct, Trained::kWeights});
  add(table, {"Gemm"}, {shapes::gemm, gemm, kProduct, Trained::kWeights});
  add(table, {"MatMul"}, {shapes::matmul, matmul, kProduct, Trained::kWeights});
  add(table, {"Einsum"}, {shapes::einsum, einsum, kProduct, Trained::kWeights});
  add(table, {"LSTM", "GRU", "RNN"},
      {shapes::recurrent, recurrent, "recurrent layer", Trained::kGates});
  add(table, {"Attention"}, {shapes::attention, attention, kProduct});
  add(table, {"ConvInteger"}, {shapes::integer_convolution, convolution, kProduct});
  add(table, {"MatMulInteger"}, {shapes::integer_matmul, matmul, kProduct});
  add(table, {"QLinearConv"}, {shapes::quantised_convolution, quantised_convolution, kProduct});
  add(table, {"QLinearMatMul"}, {shapes::quantised_matmul, quantised_matmul, kProduct});
  add(table, {"BatchNormalization"},
      {shapes::normalisation, normalisation, "normalisation", Trained::kScaleBias, true});
  add(table, {"InstanceNormalization", "GroupNormalization", "RMSNormalization"},
      {shapes::normalisation, normalisation, "normalisation", Trained::kWeights, true});
  add(table, {"LayerNormalization", "SimplifiedLayerNormalization"},
      {shapes::layer_normalisation, normalisation, "normalisation", Trained::kWeights, true});
  add(table, {"LRN", "LpNormalization", "MeanVarianceNormalization"},
      {shapes::same, normalisation, "normalisation", Trained::kNone, true});
  add(table, {"Softmax", "LogSoftmax", "Hardmax"},
      {shapes::same, softmax, "softmax", Trained::kNone, true});
  add(table, {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"},
      {shapes::cross_entropy, cross_entropy, "cross entropy"});
  add(table, {"MaxPool"}, {shapes::pool, max_pool, "pooling"});
  add(table, {"AveragePool", "LpPool"}, {shapes::pool, average_pool, "pooling"});
  add(table, {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"},
      {shapes::global_pool, reduction, "reduction"});
}

void add_elements(Table& table) {
  constexpr std::string_view kPointwise = "element by element";
  namespace cv = constant_values;
  add(table,
      {"Relu",
       "LeakyRelu",
       "Elu",
       "Selu",
       "Celu",
       "ThresholdedRelu",
       "Sigmoid",
       "HardSigmoid",
       "HardSwish",
       "Swish",
       "Mish",
       "Gelu",
       "Tanh",
       "Erf",
       "Softplus",
       "Softsign",
       "Exp",
       "Log",
       "Sin",
       "Cos",
       "Tan",
       "Asin",
       "Acos",
       "Atan",
       "Sinh",
       "Cosh",
       "Asinh",
       "Acosh",
       "Atanh",
       "Clip",
       "Sign",
       "CumSum",
       "Trilu",
       "IsNaN",
       "IsInf",
       "Shrink",
       "BitwiseNot",
       "RandomNormalLike",
       "RandomUniformLike",
       "Bernoulli"},
      {shapes::same, pointwise, kPointwise, Trained::kNone, true});
  add(table, {"Neg", "Abs", "Sqrt", "Reciprocal", "Floor", "Ceil", "Round", "Not"},
      {shapes::same, pointwise, kPointwise, Trained::kNone, true, cv::arithmetic});
  add(table, {"PRelu"}, {shapes::same, pointwise, kPointwise, Trained::kWeights, true});
  add(table, {"Add", "Sub", "Sum", "Mean"},
      {shapes::broadcast, sum, kPointwise, Trained::kParameters, true, cv::arithmetic});
  add(table,
      {"Mul", "Div", "Pow", "Mod", "Max", "Min", "BitShift", "BitwiseAnd", "BitwiseOr",
       "BitwiseXor"},
      {shapes::broadcast, pointwise, kPointwise, Trained::kParameters, true, cv::arithmetic});
  add(table, {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor"},
      {shapes::comparison, pointwise, kPointwise, Trained::kNone, true, cv::arithmetic});
  add(table, {"Where"},
      {shapes::where, pointwise, kPointwise, Trained::kNone, true, cv::arithmetic});
  add(table, {"Cast"}, {shapes::cast, pointwise, kPointwise, Trained::kNone, true, cv::cast});
  add(table, {"CastLike"},
      {shapes::cast_like, pointwise, kPointwise, Trained::kNone, true, cv::cast});
  table["CastLike"].reads = 1;
  add(table, {"QuantizeLinear"}, {shapes::quantize, pointwise, kPointwise, Trained::kNone, true});
  add(table, {"DequantizeLinear"},
      {shapes::cast_like, pointwise, kPointwise, Trained::kNone, true});
  add(table, {"Dropout"}, {shapes::dropout, dropout, kPointwise, Trained::kNone, true});
}

void add_layout(Table& table) {
  constexpr std::string_view kCopy = "copy";
  constexpr std::string_view kView = "view";
  namespace cv = constant_values;
  add(table, {"Identity"}, {shapes::same, nullptr, kView, Trained::kNone, false, cv::passed_on});
  add(table, {"Flatten"}, {shapes::flatten, nullptr, kView, Trained::kNone, false, cv::passed_on});
  add(table, {"Reshape"}, {shapes::reshape, nullptr, kView, Trained::kNone, false, cv::passed_on});
  add(table, {"Squeeze"}, {shapes::squeeze, nullptr, kView, Trained::kNone, false, cv::passed_on});
  add(table, {"Unsqueeze"},
      {shapes::unsqueeze, nullptr, kView, Trained::kNone, false, cv::passed_on});
  add(table, {"Transpose"}, {shapes::transpose, copy, kCopy, Trained::kNone, true});
  add(table, {"Concat"}, {shapes::concat, copy, kCopy, Trained::kParameters, false, cv::concat});
  add(table, {"Split"}, {shapes::split, copy, kCopy, Trained::kNone, true});
  add(table, {"SplitToSequence"}, {shapes::split_to_sequence, nullptr, kView});
  add(table, {"SequenceAt"}, {shapes::sequence_at, copy, kCopy, Trained::kNone, true});
  add(table, {"Slice"}, {shapes::slice, copy, kCopy, Trained::kNone, true, cv::slice});
  add(table, {"Pad"}, {shapes::pad, copy, kCopy, Trained::kNone, true});
  add(table, {"Tile"}, {shapes::tile, copy, kCopy, Trained::kNone, true, cv::repeated});
  add(table, {"Expand"}, {shapes::expand, copy, kCopy, Trained::kParameters, true, cv::repeated});
  add(table, {"Gather"},
      {shapes::gather, gather, "rows of a table", Trained::kParameters, false, cv::gather});
  add(table, {"GatherElements"}, {shapes::same, copy, kCopy});
  table["GatherElements"].outputs = [](const OnnxCall& call) {
    return shapes::one(call.in(0).type, call.in(1).extents);
  };
  add(table, {"GatherND"}, {shapes::gather_nd, copy, kCopy});
  add(table, {"ScatterND", "ScatterElements", "Scatter"}, {shapes::same, copy, kCopy});
  add(table, {"OneHot"}, {shapes::one_hot, copy, kCopy});
  add(table, {"Resize", "Upsample"}, {shapes::resize, copy, kCopy});
  add(table, {"DepthToSpace"}, {shapes::depth_to_space, copy, kCopy});
  add(table, {"SpaceToDepth"}, {shapes::space_to_depth, copy, kCopy});
  add(table, {"TopK"}, {shapes::top_k, reduction, "reduction"});
  add(table, {"ArgMax", "ArgMin"}, {shapes::arg_reduce, reduction, "reduction"});
  add(table,
      {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
       "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"},
      {shapes::reduce, reduction, "reduction", Trained::kNone, true, cv::reduce});
  add(table, {"Shape"}, {.outputs = shapes::shape, .costed_as = kView, .reads = 0});
  add(table, {"Size"}, {.outputs = shapes::size, .costed_as = kView, .reads = 0});
  add(table, {"Constant"}, {.outputs = shapes::constant, .costed_as = kView});
  add(table, {"ConstantOfShape"}, {.outputs = shapes::constant_of_shape, .costed_as = kView});
  add(table, {"Range"}, {.outputs = shapes::range, .costed_as = kView});
}

// Operators that lay out or scale the numbers of their first input, and whose further inputs say
// how.
void mark_of_first(Table& table) {
  for (const std::string_view type : {"Cast",
                                      "CastLike",
                                      "Clip",
                                      "DequantizeLinear",
                                      "DepthToSpace",
                                      "Dropout",
                                      "Expand",
                                      "Flatten",
                                      "Gather",
                                      "GatherElements",
                                      "GatherND",
                                      "Identity",
                                      "Pad",
                                      "QuantizeLinear",
                                      "Reshape",
                                      "Resize",
                                      "SequenceAt",
                                      "Slice",
                                      "SpaceToDepth",
                                      "Split",
                                      "SplitToSequence",
                                      "Squeeze",
                                      "Tile",
                                      "Transpose",
                                      "Trilu",
                                      "Unsqueeze",
                                      "Upsample"}) {
    table.at(type).makes = Makes::kOfFirst;
  }
}

}  // namespace

const OnnxOperator* find_operator(std::string_view domain, std::string_view type) {
  static const Table kTable = [] {
    Table table;
    add_layers(table);
    add_elements(table);
    add_layout(table);
    mark_of_first(table);
    return table;
  }();
  if (!domain.empty() && domain != "ai.onnx") return nullptr;
  const auto found = kTable.find(type);
  return found == kTable.end() ? nullptr : &found->second;
}

OnnxCost cost_of_unknown(const OnnxCall& call, std::span<const OnnxTensor> outputs) {
  const double elements = std::max(1.0, outputs.empty() ? 1.0 : outputs[0].elements());
  const double moved = (input_bytes(call) + output_bytes(outputs)) / elements;
  return {.work = zoo::pointwise_work(elements, moved, 2 * moved)};
}

}  // namespace pacml::env

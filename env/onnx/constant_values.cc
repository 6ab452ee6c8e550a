#include "env/onnx/constant_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace pacml::env::constant_values {
namespace {

using Values = std::vector<double>;

std::size_t count(const OnnxTensor& tensor) {
  return static_cast<std::size_t>(product_of(tensor.extents));
}

bool are_known(const OnnxCall& call) {
  return std::ranges::all_of(call.inputs(), [](const OnnxTensor* input) {
    return input == nullptr || input->values.has_value();
  });
}

bool is_small(const OnnxTensor& tensor) {
  return product_of(tensor.extents) <= static_cast<double>(kMostValues);
}

bool can_be_broadcast(const OnnxTensor& input, const Extents& out) {
  if (input.num_axes() > out.size()) return false;
  const auto shared = out.end() - static_cast<std::ptrdiff_t>(input.num_axes());
  return std::equal(input.extents.begin(), input.extents.end(), shared,
                    [](std::int64_t own, std::int64_t whole) { return own == 1 || own == whole; });
}

// The element of an input that goes into element `index` of a result to which it is broadcast.
double broadcast_value(const OnnxTensor& input, const Extents& out, std::size_t index) {
  std::size_t place = 0;
  std::size_t stride = 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto extent = static_cast<std::size_t>(out[out.size() - 1 - i]);
    const std::size_t at = index % extent;
    index /= extent;
    if (i >= input.num_axes()) continue;
    const auto own = static_cast<std::size_t>(input.extents[input.num_axes() - 1 - i]);
    place += stride * (own == 1 ? 0 : at);
    stride *= own;
  }
  return (*input.values)[place];
}

double quotient(const OnnxCall& call, double a, double b) {
  const bool is_whole = !is_floating(call.in(0).type);
  if (b == 0) return is_whole ? std::numeric_limits<double>::quiet_NaN() : a / b;
  return is_whole ? std::trunc(a / b) : a / b;
}

// With the sign of the divisor, or as C has it.
double modulo(const OnnxCall& call, double a, double b) {
  return call.flag("fmod", false) ? std::fmod(a, b) : a - b * std::floor(a / b);
}

// What becomes of one element of each input.
struct Calculation {
  std::size_t operands = 0;  // at least
  double (*of)(const OnnxCall&, const Values&) = nullptr;
};

double truth(bool is_true) { return is_true ? 1 : 0; }

const std::map<std::string_view, Calculation>& calculations() {
  using C = const OnnxCall&;
  using V = const Values&;
  static const std::map<std::string_view, Calculation> kAll = {
      {"Add", {2, [](C, V x) { return x[0] + x[1]; }}},
      {"Sub", {2, [](C, V x) { return x[0] - x[1]; }}},
      {"Mul", {2, [](C, V x) { return x[0] * x[1]; }}},
      {"Div", {2, [](C c, V x) { return quotient(c, x[0], x[1]); }}},
      {"Mod", {2, [](C c, V x) { return modulo(c, x[0], x[1]); }}},
      {"Pow", {2, [](C, V x) { return std::pow(x[0], x[1]); }}},
      {"Max", {1, [](C, V x) { return *std::ranges::max_element(x); }}},
      {"Min", {1, [](C, V x) { return *std::ranges::min_element(x); }}},
      {"Equal", {2, [](C, V x) { return truth(x[0] == x[1]); }}},
      {"Greater", {2, [](C, V x) { return truth(x[0] > x[1]); }}},
      {"Less", {2, [](C, V x) { return truth(x[0] < x[1]); }}},
      {"GreaterOrEqual", {2, [](C, V x) { return truth(x[0] >= x[1]); }}},
      {"LessOrEqual", {2, [](C, V x) { return truth(x[0] <= x[1]); }}},
      {"And", {2, [](C, V x) { return truth(x[0] != 0 && x[1] != 0); }}},
      {"Or", {2, [](C, V x) { return truth(x[0] != 0 || x[1] != 0); }}},
      {"Where", {3, [](C, V x) { return x[0] != 0 ? x[1] : x[2]; }}},
      {"Not", {1, [](C, V x) { return truth(x[0] == 0); }}},
      {"Neg", {1, [](C, V x) { return -x[0]; }}},
      {"Abs", {1, [](C, V x) { return std::abs(x[0]); }}},
      {"Sqrt", {1, [](C, V x) { return std::sqrt(x[0]); }}},
      {"Reciprocal", {1, [](C, V x) { return 1 / x[0]; }}},
      {"Floor", {1, [](C, V x) { return std::floor(x[0]); }}},
      {"Ceil", {1, [](C, V x) { return std::ceil(x[0]); }}},
      {"Round", {1, [](C, V x) { return std::nearbyint(x[0]); }}},
  };
  return kAll;
}

}  // namespace

void passed_on(const OnnxCall& call, Outputs& outputs) {
  if (call.in(0).values && call.in(0).values->size() == count(outputs[0])) {
    outputs[0].values = call.in(0).values;
  }
}

void cast(const OnnxCall& call, Outputs& outputs) {
  passed_on(call, outputs);
  if (!outputs[0].values || is_floating(outputs[0].type)) return;
  const bool is_truth = outputs[0].type == onnx::TensorProto::BOOL;
  for (double& value : *outputs[0].values) {
    value = is_truth && !std::isnan(value) ? truth(value != 0) : std::trunc(value);
  }
}

void arithmetic(const OnnxCall& call, Outputs& outputs) {
  const auto known = calculations().find(call.node().op_type());
  if (known == calculations().end() || !are_known(call) || !is_small(outputs[0])) return;
  for (const OnnxTensor* input : call.inputs()) {
    if (input != nullptr && !can_be_broadcast(*input, outputs[0].extents)) return;
  }
  Values operands;
  Values results;
  for (std::size_t i = 0; i < count(outputs[0]); ++i) {
    operands.clear();
    for (const OnnxTensor* input : call.inputs()) {
      if (input != nullptr) {
        operands.push_back(broadcast_value(*input, outputs[0].extents, i));
      }
    }
    if (operands.size() < known->second.operands) return;
    results.push_back(known->second.of(call, operands));
  }
  outputs[0].values = std::move(results);
}

void concat(const OnnxCall& call, Outputs& outputs) {
  if (outputs[0].num_axes() != 1 || !are_known(call) || !is_small(outputs[0])) return;
  Values all;
  for (const OnnxTensor* input : call.inputs()) {
    all.insert(all.end(), input->values->begin(), input->values->end());
  }
  outputs[0].values = std::move(all);
}

void slice(const OnnxCall& call, Outputs& outputs) {
  const OnnxTensor& x = call.in(0);
  if (x.num_axes() != 1 || !x.values) return;
  const auto size = static_cast<std::int64_t>(x.values->size());
  const bool has_attributes = call.has_attribute("starts");
  const auto starts =
      has_attributes ? call.integers("starts", {}, INT64_MIN, INT64_MAX) : call.whole_values(1);
  if (starts.empty() || size == 0) return passed_on(call, outputs);
  const std::int64_t step = call.has(4) ? call.whole_value(4) : 1;
  constexpr std::int64_t kFar = INT64_C(1) << 40;
  std::int64_t at = std::clamp(starts[0], -kFar, kFar);
  if (at < 0) at += size;
  at = std::clamp<std::int64_t>(at, 0, step > 0 ? size : size - 1);
  Values part;
  for (std::size_t i = 0; i < count(outputs[0]) && at >= 0 && at < size; ++i, at += step) {
    part.push_back((*x.values)[static_cast<std::size_t>(at)]);
  }
  if (part.size() == count(outputs[0])) outputs[0].values = std::move(part);
}

void gather(const OnnxCall& call, Outputs& outputs) {
  const OnnxTensor& x = call.in(0);
  if (x.num_axes() != 1 || !are_known(call) || !is_small(outputs[0])) return;
  const auto size = static_cast<double>(x.values->size());
  Values found;
  for (double index : *call.in(1).values) {
    if (index < 0) index += size;
    if (!(index >= 0 && index < size)) {
      call.refuse("it takes what is not there");
    }
    found.push_back((*x.values)[static_cast<std::size_t>(index)]);
  }
  outputs[0].values = std::move(found);
}

void repeated(const OnnxCall& call, Outputs& outputs) {
  const auto& values = call.in(0).values;
  if (!values || values->size() != 1 || !is_small(outputs[0])) return;
  outputs[0].values.emplace(count(outputs[0]), values->front());
}

void reduce(const OnnxCall& call, Outputs& outputs) {
  const auto& values = call.in(0).values;
  if (!values || values->empty() || count(outputs[0]) != 1) return;
  const std::string& op = call.node().op_type();
  if (op == "ReduceProd") {
    outputs[0].values = {std::accumulate(values->begin(), values->end(), 1.0, std::multiplies<>())};
  } else if (op == "ReduceSum") {
    outputs[0].values = {std::accumulate(values->begin(), values->end(), 0.0)};
  } else if (op == "ReduceMax") {
    outputs[0].values = {*std::ranges::max_element(*values)};
  } else if (op == "ReduceMin") {
    outputs[0].values = {*std::ranges::min_element(*values)};
  }
}

}  // namespace pacml::env::constant_values

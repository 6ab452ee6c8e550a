#include "env/onnx/onnx_call.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/result.h"

namespace pacml::env {
namespace {

constexpr double kFarthest = 0x1p40;

static_assert(std::endian::native == std::endian::little, "tensors are read as they lie");

template <class T>
std::optional<std::vector<double>> raw_values(const std::string& bytes, std::size_t count) {
  if (bytes.size() != count * sizeof(T)) return std::nullopt;
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

template <class List>
std::optional<std::vector<double>> listed_values(const List& list, std::size_t count) {
  if (static_cast<std::size_t>(list.size()) != count) return std::nullopt;
  return std::vector<double>(list.begin(), list.end());
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 120;
  std::string line(text.substr(0, kMost));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kMost ? line + "..." : line;
}

std::optional<std::vector<double>> values_of(const onnx::TensorProto& tensor) {
  double elements = 1;
  for (const std::int64_t extent : tensor.dims()) elements *= static_cast<double>(extent);
  if (!(elements >= 0 && elements <= static_cast<double>(kMostValues))) return std::nullopt;
  const auto count = static_cast<std::size_t>(elements);
  const bool is_raw = tensor.has_raw_data();
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return is_raw ? raw_values<float>(tensor.raw_data(), count)
                    : listed_values(tensor.float_data(), count);
    case onnx::TensorProto::DOUBLE:
      return is_raw ? raw_values<double>(tensor.raw_data(), count)
                    : listed_values(tensor.double_data(), count);
    case onnx::TensorProto::INT64:
      return is_raw ? raw_values<std::int64_t>(tensor.raw_data(), count)
                    : listed_values(tensor.int64_data(), count);
    case onnx::TensorProto::INT32:
      return is_raw ? raw_values<std::int32_t>(tensor.raw_data(), count)
                    : listed_values(tensor.int32_data(), count);
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::UINT8:
      return is_raw ? raw_values<std::uint8_t>(tensor.raw_data(), count)
                    : listed_values(tensor.int32_data(), count);
    default:
      return std::nullopt;
  }
}

const OnnxTensor& OnnxCall::in(std::size_t input) const {
  if (!has(input)) refuse("its input " + std::to_string(input) + " is missing");
  return *inputs_[input];
}

const OnnxTensor& OnnxCall::in(std::size_t input, std::size_t least_axes,
                               std::size_t most_axes) const {
  const OnnxTensor& tensor = in(input);
  if (tensor.num_axes() < least_axes || tensor.num_axes() > most_axes) {
    refuse("its input " + std::to_string(input) + " cannot have the shape " +
           to_text(tensor.extents));
  }
  return tensor;
}

const std::vector<double>& OnnxCall::values(std::size_t input) const {
  const OnnxTensor& tensor = in(input);
  if (!tensor.values) {
    refuse("the shape of its result depends on the values of its input \"" +
           printable(node_->input(static_cast<int>(input))) + "\", which the file does not hold");
  }
  return *tensor.values;
}

std::vector<std::int64_t> OnnxCall::whole_values(std::size_t input) const {
  std::vector<std::int64_t> numbers;
  for (const double value : values(input)) {
    if (std::isnan(value)) refuse("its input " + std::to_string(input) + " holds no number");
    numbers.push_back(static_cast<std::int64_t>(std::clamp(value, -kFarthest, kFarthest)));
  }
  return numbers;
}

std::int64_t OnnxCall::whole_value(std::size_t input) const {
  const auto all = whole_values(input);
  if (all.size() != 1) {
    refuse("its input " + std::to_string(input) + " should hold one number, not " +
           std::to_string(all.size()));
  }
  return all.front();
}

const onnx::AttributeProto* OnnxCall::find(std::string_view name) const {
  for (const onnx::AttributeProto& attribute : node_->attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::int64_t OnnxCall::integer(std::string_view name, std::int64_t fallback, std::int64_t least,
                               std::int64_t most) const {
  const onnx::AttributeProto* attribute = find(name);
  if (attribute == nullptr) return fallback;
  if (!attribute->has_i() || attribute->i() < least || attribute->i() > most) {
    refuse("its attribute " + std::string(name) + " must be a whole number in " +
           std::to_string(least) + ".." + std::to_string(most));
  }
  return attribute->i();
}

bool OnnxCall::flag(std::string_view name, bool fallback) const {
  return integer(name, fallback ? 1 : 0, 0, 1) != 0;
}

std::vector<std::int64_t> OnnxCall::integers(std::string_view name,
                                             std::vector<std::int64_t> fallback, std::int64_t least,
                                             std::int64_t most) const {
  const onnx::AttributeProto* attribute = find(name);
  if (attribute == nullptr) return fallback;
  const bool is_right = static_cast<std::size_t>(attribute->ints_size()) <= kMostValues &&
                        std::ranges::all_of(attribute->ints(), [&](std::int64_t value) {
                          return value >= least && value <= most;
                        });
  if (!is_right) {
    refuse("its attribute " + std::string(name) + " must be a short list of whole numbers in " +
           std::to_string(least) + ".." + std::to_string(most));
  }
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<double> OnnxCall::numbers(std::string_view name) const {
  const onnx::AttributeProto* attribute = find(name);
  if (attribute == nullptr) return {};
  if (static_cast<std::size_t>(attribute->floats_size()) > kMostValues) {
    refuse("its attribute " + std::string(name) + " is too long a list");
  }
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::string OnnxCall::text(std::string_view name, std::string_view fallback) const {
  const onnx::AttributeProto* attribute = find(name);
  return attribute == nullptr ? std::string(fallback) : attribute->s();
}

const onnx::TensorProto* OnnxCall::tensor(std::string_view name) const {
  const onnx::AttributeProto* attribute = find(name);
  return attribute != nullptr && attribute->has_t() ? &attribute->t() : nullptr;
}

std::size_t OnnxCall::axis(std::int64_t axis, std::size_t num_axes) const {
  const auto count = static_cast<std::int64_t>(num_axes);
  if (axis < -count || axis >= count) {
    refuse("there is no axis " + std::to_string(axis) + " where there are " +
           std::to_string(count));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

void OnnxCall::refuse(const std::string& what) const {
  const std::string name =
      node_->name().empty() && node_->output_size() > 0 ? node_->output(0) : node_->name();
  throw UserError(*source_ + ": " + printable(node_->op_type()) + " \"" + printable(name) +
                  "\": " + what);
}

}  // namespace pacml::env

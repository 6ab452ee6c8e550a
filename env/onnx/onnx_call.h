#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/onnx/onnx_tensor.h"

namespace pacml::env {

// A node of a graph with what is known of its inputs: what rules of operators read. Everything that
// is not as it should be is a UserError that names the file and the node. Borrows all it is given.
class OnnxCall {
 public:
  // `inputs`: null where one is left out.
  OnnxCall(const std::string& source, const onnx::NodeProto& node,
           std::vector<const OnnxTensor*> inputs)
      : source_(&source), node_(&node), inputs_(std::move(inputs)) {}

  [[nodiscard]] const onnx::NodeProto& node() const { return *node_; }
  [[nodiscard]] const std::vector<const OnnxTensor*>& inputs() const { return inputs_; }
  // The same node with some of its inputs alone.
  [[nodiscard]] OnnxCall with_inputs(std::vector<const OnnxTensor*> inputs) const {
    return {*source_, *node_, std::move(inputs)};
  }
  [[nodiscard]] std::size_t num_outputs() const {
    return static_cast<std::size_t>(node_->output_size());
  }
  [[nodiscard]] bool has(std::size_t input) const {
    return input < inputs_.size() && inputs_[input] != nullptr;
  }
  // UserError: it is left out.
  [[nodiscard]] const OnnxTensor& in(std::size_t input) const;
  // ... or has fewer axes, or more.
  [[nodiscard]] const OnnxTensor& in(std::size_t input, std::size_t least_axes,
                                     std::size_t most_axes = kMostAxes) const;
  // What an input's values are. UserError: they are not known before it runs.
  [[nodiscard]] const std::vector<double>& values(std::size_t input) const;
  // ... as whole numbers; those beyond +-2^40 are cut off there.
  [[nodiscard]] std::vector<std::int64_t> whole_values(std::size_t input) const;
  // ... of which there is one. UserError: there are none, or several.
  [[nodiscard]] std::int64_t whole_value(std::size_t input) const;

  // Attributes; `fallback` where there is none. UserError: of another type, or not in least..most.
  [[nodiscard]] bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback,
                                     std::int64_t least, std::int64_t most) const;
  [[nodiscard]] bool flag(std::string_view name, bool fallback) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name,
                                                   std::vector<std::int64_t> fallback,
                                                   std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view fallback) const;
  [[nodiscard]] const onnx::TensorProto* tensor(std::string_view name) const;

  // An axis of a tensor with so many, counted from the end where it is negative.
  [[nodiscard]] std::size_t axis(std::int64_t axis, std::size_t num_axes) const;

  [[noreturn]] void refuse(const std::string& what) const;

 private:
  [[nodiscard]] const onnx::AttributeProto* find(std::string_view name) const;

  const std::string* source_;
  const onnx::NodeProto* node_;
  std::vector<const OnnxTensor*> inputs_;
};

// A name out of a file as it may be printed: one line of at most 120 characters.
[[nodiscard]] std::string printable(std::string_view text);

// Absent: there are too many, they are not in the file, or are no plain numbers.
[[nodiscard]] std::optional<std::vector<double>> values_of(const onnx::TensorProto& tensor);

}  // namespace pacml::env

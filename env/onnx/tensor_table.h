#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "env/onnx/onnx_tensor.h"

namespace pacml::env {

// What is known of a model's tensors, by name. Borrows names and `source`. Thread-confined.
class TensorTable {
 public:
  explicit TensorTable(const std::string& source) : source_(&source) {}

  [[nodiscard]] bool contains(std::string_view name) const { return tensors_.contains(name); }
  // UserError: nobody gave it. Whoever should have may have fewer outputs than the file says.
  [[nodiscard]] const OnnxTensor& find(std::string_view name) const;
  // Stays where it is. UserError: as check; the name is there already; there are too many.
  OnnxTensor& add(std::string_view name, OnnxTensor tensor);
  // UserError: too many axes or elements, or no numbers.
  void check(const OnnxTensor& tensor, std::string_view name) const;

 private:
  const std::string* source_;
  std::unordered_map<std::string_view, OnnxTensor> tensors_;
};

}  // namespace pacml::env

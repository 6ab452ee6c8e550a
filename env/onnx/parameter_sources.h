#pragma once

#include <cstddef>
#include <vector>

#include "env/onnx/imported_ops.h"
#include "env/onnx/onnx_call.h"
#include "env/onnx/operators.h"

namespace pacml::env {

// Constants that a file stores, or makes out of nothing, and the ops that train them: each counts
// as the first one's that uses it. Thread-confined.
class ParameterSources {
 public:
  // Such a constant; its `weights` are itself. `is_stored`: by name.
  void add(OnnxTensor& tensor, bool is_stored);
  // Whether an op trains the constant that is this input of it; whose numbers are its own then, as
  // far as nobody has them. False of what is no constant.
  bool claim(const OnnxTensor& tensor, Trained trained, std::size_t input, ImportedOp& op);

 private:
  struct Source {
    double elements = 0;
    double bytes = 0;
    bool is_stored = false;
    bool is_claimed = false;
  };
  std::vector<Source> sources_;
};

// What a node's constant result is made of, not too many: shapes, axes and scales are none of it.
// `rule`: null where none is known. Pure.
[[nodiscard]] std::vector<int> weights_of(const OnnxCall& call, const OnnxOperator* rule);

}  // namespace pacml::env

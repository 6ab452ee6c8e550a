#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "env/onnx/import_onnx.h"
#include "env/onnx/imported_ops.h"
#include "env/onnx/said_tensor.h"
#include "env/onnx/tensor_table.h"

namespace pacml::env {

// The data that a model reads, and the mini-batch that they are. Value type.
struct ModelInputs {
  std::int64_t batch = 1;
  std::set<std::string> batch_axes;  // that the file leaves open
  double repeats = 1;   // so often a mini-batch of the file's size is in the one that is asked for
  OpenExtents extents;  // of all axes that the file leaves open
  std::vector<ImportedOp> ops;  // one an input, in the file's order
};

// Adds the inputs to `tensors`, which has the initialisers: those are none. UserError: there is
// none; an axis is open, and nobody says how long it is, or says so twice; what is said is about
// none; as said_tensor and TensorTable::add.
[[nodiscard]] ModelInputs read_inputs(const onnx::GraphProto& graph, const std::string& source,
                                      const OnnxImport& setting, TensorTable& tensors);

}  // namespace pacml::env

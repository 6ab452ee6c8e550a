#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "env/graph/zoo/device.h"
#include "env/onnx/imported_ops.h"

namespace pacml::env {

struct OnnxImport {
  std::int64_t batch = 0;  // samples of a mini-batch; 0: as the file fixes it, else 32
  std::map<std::string, std::int64_t> extents = {};  // of axes that the file leaves open, by name
};

// A model's training step as operations. `batch`: the samples that were taken. Value type.
struct ImportedModel {
  std::vector<ImportedOp> ops;  // data first; then in the file's order, as far as it is one
  std::int64_t batch = 0;
  std::set<std::string> batch_axes;  // that the file leaves open, and that were taken for it
  std::string origin;                // what the file says of itself, for people

  [[nodiscard]] double parameters() const;
  [[nodiscard]] double multiply_adds() const;  // of one sample's forward pass
};

// Reads a model of ONNX (https://onnx.ai; docs/import.md says what is assumed). Constants are
// computed beforehand as far as shapes depend on them; views, and what does not lead to an output,
// are no operations. The axes that the file leaves open and names after the batch are the
// mini-batch, or, where none is, those that come first; where the file fixes them, tensors that
// depend on data are taken to be as much larger as the mini-batch is. A node with graphs of its own
// (a branch, a loop) is one operation, which also reads what these read of the graph around it. A
// node that calls a function of the file is what this is made of.
//
// UserError, in one sentence that names `source` and the node: the file is no ONNX model; shapes
// do not fit, or are not known; a cycle; names that nothing gives, or two nodes; more than 200 000
// nodes, tensors of more than 16 axes or 2^40 elements. Time and memory are bounded whatever the
// bytes say; weights are not read, and need not be there where they are files of their own.
[[nodiscard]] ImportedModel import_onnx(std::istream& in, const std::string& source,
                                        const OnnxImport& setting);

}  // namespace pacml::env

#pragma once

#include <onnx/onnx_pb.h>

#include <string>

namespace pacml::env {

// Puts the nodes of the functions that a model brings along in the place of the graph's nodes that
// call them, so that they are operations like any other; functions that call functions, too. What
// is called like an operator that is known stays: its cost is better known than its body's. So do
// calls from within branches and loops, which are no operations of their own. Attributes that a
// call leaves out take their operator's default. UserError, with the name `source`: functions call
// one another more than 16 deep, or are more than 200 000 nodes or 256 MiB once they are in place.
void inline_functions(onnx::ModelProto& model, const std::string& source);

}  // namespace pacml::env

#pragma once

#include <istream>
#include <string>

#include "env/placement/op_graph.h"

namespace pacml::env {

// A graph of operations out of TensorFlow's CostGraphDef in its text form (.pbtxt): a node's cost
// is its compute_cost, its outputs are those of output_info (of a size that is not known: 0 bytes),
// what it keeps its persistent_memory_size (gradients and an optimiser's moments are outputs and
// variables of their own in such a graph); control inputs are edges of 0 bytes, but
// for those from a node that is an input, too. Where ids are left out, nodes are numbered by their
// places. `name` is the file's, for errors.
//
// UserError, "NAME[:line:column]: ...": no such text, more than 64 MiB or than the limits, an id
// that comes twice, inputs from nodes that are not there, no nodes. What a graph may be else
// (names, cycles) is OpGraph's to check.
[[nodiscard]] OpGraphSpec read_cost_graph(std::istream& in, const std::string& name,
                                          const OpGraphLimits& limits = {});

}  // namespace pacml::env

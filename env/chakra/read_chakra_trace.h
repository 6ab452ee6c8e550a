#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "env/graph/zoo/device.h"
#include "env/placement/op_graph.h"

namespace pacml::env {

// All nodes of one kind.
struct ChakraKind {
  std::string name;  // "compute", "all-reduce", ...
  std::size_t nodes = 0;
  std::size_t timed_nodes = 0;  // with a duration of their own
  double cost_us = 0;
  double output_bytes = 0;
  bool operator==(const ChakraKind&) const = default;
};

struct ChakraTrace {
  std::string version;            // of the schema, as the file says
  OpGraphSpec graph;              // an operation a node, in the order of the file
  std::vector<ChakraKind> kinds;  // by name
};

// An execution trace of MLCommons' Chakra (.et): what one rank has run. An operation is called
// NAME#ID after its node, since names come again. It costs
//
//   - the node's duration, where it has one;
//   - else, of computation and memory, what the attributes num_ops (floating-point operations) and
//     tensor_size (bytes) come to on the device by the cost model of the built-in models;
//   - else nothing: what communication takes that was not timed is for a simulator to say.
//
// It puts out, as one output, comm_size bytes of communication, else the tensors that PyTorch has
// printed of its outputs, else tensor_size bytes. A data dependency is an edge on that output, a
// control dependency one that sends nothing; what is both is the former. `name` is the file's, for
// errors.
//
// UserError, "NAME: ...", with the node's number in the file: no such trace, one that ends in the
// middle or is compressed; a node of more than 4 MiB, a name of more than 4 KiB, more than the
// limits; an id that comes twice, a dependency on a node that is not there; a size below 0; no
// nodes. Memory is bounded by the limits. What a graph may be else (cycles) is OpGraph's to check.
[[nodiscard]] ChakraTrace read_chakra_trace(std::istream& in, const std::string& name,
                                            const zoo::Device& device,
                                            const OpGraphLimits& limits = {});

}  // namespace pacml::env

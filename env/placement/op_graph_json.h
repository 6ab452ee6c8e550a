#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "env/placement/op_graph.h"

namespace pacml::env {

// Graphs of operations as JSON (docs/placement.md):
//
//   {"ops": [{"name": "a", "cost_us": 10, "output_bytes": [7600], "group": "g", "memory": 1,
//             "parameter_bytes": 0, "kept_bytes": 0}, ...],
//    "edges": [[producer, output, consumer], ...]}
//
// An end of an edge is the number of an operation or its name; group, memory, parameter_bytes and
// kept_bytes may be absent. UserError, one sentence: anything else. What a graph may be is
// OpGraph's to check.
[[nodiscard]] OpGraphSpec op_graph_from_json(const nlohmann::json& graph,
                                             const OpGraphLimits& limits = {});

// The same the other way round: what op_graph_from_json() reads as this graph.
[[nodiscard]] nlohmann::json op_graph_to_json(const OpGraphSpec& graph);

// UserError: none of its operations takes any time; all that is told of a placement is a share of
// what one device takes.
void require_time(const OpGraphSpec& graph);

// Reads a graph out of a file: JSON as above, or with "graph" holding it; or, where the file is
// called graph.txt or *.txt, a profile in PipeDream's format as one training step
// (profile_ops.h). UserError, beginning with the file: it cannot be read, is longer than 256 MiB,
// is no such graph, or none of its operations takes any time.
[[nodiscard]] OpGraphSpec read_op_graph(const std::filesystem::path& file);

}  // namespace pacml::env

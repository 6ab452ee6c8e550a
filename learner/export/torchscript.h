#pragma once

#include <filesystem>

#include "common/result.h"
#include "learner/export/policy_export.h"

namespace pacml::learner {

// Writes a TorchScript module that torch.jit.load (Python) and torch::jit::load (C++) run without
// this program:
//
//   forward(node_features [N, F] float, edge_features [E, Fe] float, edge_src [E] int64,
//           edge_dst [E] int64, node_graph [N] int64, globals [B, G] float, mask [B, A])
//     -> (logits [B, A], values [B])
//
// for B graphs at once, decision b on the graph whose nodes have node_graph = b; the mask is bool
// or 0/1; sizes may change from call to call. Widths are attributes of the module
// (num_node_features, num_edge_features, num_globals, num_actions). export_metadata as
// "metadata.json" and reference_cases as "reference.json" are extra files inside. Atomic. kIo: the
// sentence names the path and the reason.
[[nodiscard]] Result<void> export_torchscript(const PolicyExport& policy,
                                              const std::filesystem::path& file);

}  // namespace pacml::learner

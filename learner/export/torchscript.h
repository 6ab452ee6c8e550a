#pragma once

#include <filesystem>

#include "common/result.h"
#include "learner/export/policy_export.h"

namespace pacml::learner {

// Writes a TorchScript module that torch.jit.load (Python) and torch::jit::load (C++) run without
// this program: its forward takes the tensors of policy_inputs(), in their order, sizes may change
// from call to call, and returns (logits, values) as tensor_program.h says. Flags are bool or 0/1.
// The widths of matrices are attributes of the module: num_NAME for input NAME, num_actions for the
// mask. export_metadata as "metadata.json" and reference_cases as "reference.json" are extra files
// inside. Atomic. kIo: the sentence names the path and the reason.
[[nodiscard]] Result<void> export_torchscript(const PolicyExport& policy,
                                              const std::filesystem::path& file);

}  // namespace pacml::learner

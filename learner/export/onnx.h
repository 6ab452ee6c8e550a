#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"
#include "learner/export/policy_export.h"

namespace pacml::learner {

// The policy as an ONNX model (operator set 17, of IR version 8; https://onnx.ai) of one graph,
// that any runtime of the default operators runs: inputs are policy_inputs() by name, of sizes that
// may change from call to call, outputs "logits" and "values" as tensor_program.h says. An input's
// documentation names its columns and their units. The model's metadata holds export_metadata, and
// "reference": reference_cases. Serialised. Pure.
[[nodiscard]] std::string encode_onnx(const PolicyExport& policy);

// ... in a file. Atomic. kIo: the sentence names the path and the reason.
[[nodiscard]] Result<void> export_onnx(const PolicyExport& policy,
                                       const std::filesystem::path& file);

}  // namespace pacml::learner

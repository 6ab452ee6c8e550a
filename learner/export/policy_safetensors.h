#pragma once

#include <filesystem>

#include "common/result.h"
#include "learner/export/policy_export.h"

namespace pacml::learner {

// Writes the weights under their names (model/layout.h), with export_metadata as the file's
// metadata, and beside it FILE.reference.json with reference_cases. Atomically, file by file. kIo:
// the sentence names the path and the reason.
[[nodiscard]] Result<void> export_safetensors(const PolicyExport& policy,
                                              const std::filesystem::path& file);

}  // namespace pacml::learner

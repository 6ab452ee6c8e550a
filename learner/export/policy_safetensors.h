#pragma once

#include <filesystem>

#include "common/result.h"
#include "learner/export/policy_export.h"

namespace pacml::learner {

// Where the reference of an exported policy stands: FILE.reference.json. Pure.
[[nodiscard]] std::filesystem::path reference_file_of(const std::filesystem::path& file);

// Writes the weights under their names (model/layout.h), with export_metadata as the file's
// metadata, and reference_cases beside it. Atomically, file by file. kIo:
// the sentence names the path and the reason.
[[nodiscard]] Result<void> export_safetensors(const PolicyExport& policy,
                                              const std::filesystem::path& file);

}  // namespace pacml::learner

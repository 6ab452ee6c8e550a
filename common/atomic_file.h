#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"

namespace pacml {

// Replaces the file at `path` by `bytes`: whoever reads it, even after a crash or a kill -9 at any
// moment, finds the old content or the new, whole. Writes a temporary beside it, syncs it, renames,
// syncs the folder. kIo: the sentence names the path and the reason; the old file is untouched.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path,
                                                 std::string_view bytes);

// The whole file. kIo: cannot be read. kOverLimit: longer than `max_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::uint64_t max_bytes = UINT64_C(1) << 32);

}  // namespace pacml

#pragma once

#include <cstdint>
#include <string>

namespace pacml::env {

// Of a file's bytes (common/hash.h), behind those that `seed` is the hash of. Errors: as
// stream_file.
[[nodiscard]] std::uint64_t file_hash(const std::string& file, std::uint64_t seed = 0);

}  // namespace pacml::env

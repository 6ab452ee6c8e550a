#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "common/result.h"

namespace pacml {

// The text of a file that holds a secret, without white space at either end; never empty. Only its
// owner may be able to read it (mode 0600 or 0400); where that is root, its group may read too, as
// Kubernetes mounts Secrets for a process that is not root. Links are followed, and the permissions
// are those of the file that is read. Its folder must not let others put another file in its place.
// Thread-safe.
//
// Errors are one sentence that names the file, never its content.
//   kIo         it cannot be read (Error::passes where that may pass), is no plain file, is empty,
//               or is open to others, or its folder is
//   kOverLimit  it is longer than `max_bytes`
[[nodiscard]] Result<std::string> read_secret_file(const std::filesystem::path& path,
                                                   std::size_t max_bytes = 4096);

}  // namespace pacml

#pragma once

#include <string>

namespace pacml::apps {

// The release and the revision it was built from: "0.1.0 (3f2a91c)"; "unknown" outside a git tree.
[[nodiscard]] std::string version();

}  // namespace pacml::apps

#pragma once

#include <string_view>

namespace pacml::apps {

// A file of deploy/, as it was when this program was built: an installed pacml needs no source
// tree. Pre: the build embeds it (apps/CMakeLists.txt).
[[nodiscard]] std::string_view deploy_file(std::string_view path);

}  // namespace pacml::apps

#pragma once

#include <string>

namespace pacml::apps {

// The last error that one of our programs told its log, without the program's name; empty: none
// near the end, or no log.
[[nodiscard]] std::string last_error(const std::string& log);

}  // namespace pacml::apps

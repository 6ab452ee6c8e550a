#pragma once

#include <string>

namespace pacml {

// What whoever set an element of a list on the command line is told; continues a sentence about
// that list. Pure.
[[nodiscard]] inline std::string how_to_set_list(const std::string& key) {
  return "which is set whole: --set '" + key + "=[...]'";
}

}  // namespace pacml

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pacml {

// What differs between two dumped configurations: "learner.batch: 32 here, 64 there", in the order
// of `here`, then keys that only `there` has. Text that is not a configuration (a peer's bytes)
// gives one sentence that says so. At most `limit` sentences, then one with the number left out.
// Pure.
[[nodiscard]] std::vector<std::string> config_differences(std::string_view here,
                                                          std::string_view there,
                                                          std::size_t limit = 8);

}  // namespace pacml

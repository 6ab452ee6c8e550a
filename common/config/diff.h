#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pacml {

// One setting that differs: its dotted key, and its values as YAML; "absent" where there is none.
struct ConfigDifference {
  std::string key;
  std::string here;
  std::string there;
  bool operator==(const ConfigDifference&) const = default;
};

// What differs between two dumped configurations, in the order of `here`, then what only `there`
// has. A map that is empty on one side alone is told by the other's keys. UserError: text that is
// not a configuration. Pure.
[[nodiscard]] std::vector<ConfigDifference> compare_configs(std::string_view here,
                                                            std::string_view there);

// The same as sentences: "learner.batch: 32 here, 64 there". Text that is not a configuration (a
// peer's bytes) gives one that says so. At most `limit` sentences, then one with the number left
// out. Pure.
[[nodiscard]] std::vector<std::string> config_differences(std::string_view here,
                                                          std::string_view there,
                                                          std::size_t limit = 8);

}  // namespace pacml

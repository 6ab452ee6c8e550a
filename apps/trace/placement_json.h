#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "env/placement/device_set.h"

// Members of recorded placements. UserError, one sentence, for what is not as it should be. Pure.

namespace pacml::apps {

[[nodiscard]] const nlohmann::json& placement_member(const nlohmann::json& object, const char* key);
// A number from 0 to 1e18.
[[nodiscard]] double placement_number(const nlohmann::json& value, const std::string& what);
// A whole number below `below`; a list of such.
[[nodiscard]] std::int32_t placement_index(const nlohmann::json& value, std::size_t below,
                                           const std::string& what);
[[nodiscard]] std::vector<std::int32_t> placement_indices(const nlohmann::json& list,
                                                          std::size_t below,
                                                          const std::string& what);
// Amounts of bytes; whole ones as whole numbers.
[[nodiscard]] nlohmann::json byte_amount(double value);
[[nodiscard]] nlohmann::json byte_amounts(std::span<const double> values);
// `devices` of a recording, with its `constants`.
[[nodiscard]] env::DeviceSetPtr recorded_devices(const nlohmann::json& recorded);

}  // namespace pacml::apps

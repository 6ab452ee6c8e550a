#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/placement/device_set.h"

namespace pacml::env {

// Devices by name, or out of a file:
//
//   placeto:N           N equal devices with the published simulator's semantics and constants
//   a100x4              four A100 of 80 GB; every pair connected by NVLink, 100 GB/s a direction
//   a100x8              eight behind NVSwitch, 300 GB/s out of each
//   a100x8_two_hosts    four and four, between which goes 100 Gbit/s (12.5 GB/s) out of each host
//
// Bandwidths are NVIDIA's of NVLink 3 (A100 whitepaper, 2020); latencies are round numbers of
// ours. UserError: neither a name nor a file that can be read; what it says cannot be.
[[nodiscard]] DevicesConfig devices_config(std::string_view name_or_file);

// Whether that is to be a file, which need not be there: it is no name.
[[nodiscard]] bool names_devices_file(std::string_view name_or_file);

// The names, for people.
[[nodiscard]] const std::vector<std::string>& device_presets();

}  // namespace pacml::env

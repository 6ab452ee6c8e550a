#include "env/placement/device_presets.h"

#include <algorithm>
#include <filesystem>

#include "common/config/reader.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/text.h"
#include "common/try_again.h"

namespace pacml::env {
namespace {

constexpr std::string_view kPlaceto = "placeto:";

DevicesConfig a100s(int count, int per_host) {
  DevicesConfig config;
  LinkedDevices& linked = config.corrected;
  for (int d = 0; d < count; ++d) {
    linked.devices.push_back(
        {.name = "gpu" + std::to_string(d), .host = "host" + std::to_string(d / per_host)});
  }
  const bool is_switched = per_host > 4;
  linked.local = {.gb_per_s = is_switched ? 300.0 : 100.0,
                  .latency_us = 3,
                  .shared = is_switched ? LinkSharing::kDevice : LinkSharing::kPair};
  linked.remote = {.gb_per_s = 12.5, .latency_us = 10, .shared = LinkSharing::kHost};
  return config;
}

DevicesConfig placeto(std::string_view count) {
  DevicesConfig config;
  config.semantics = PlacementSemantics::kPlaceto;
  const auto devices = read_number<int>(count);
  config.placeto.count = devices.value_or(0);
  if (!devices || !validate(config).empty()) {
    throw UserError("devices: \"" + std::string(kPlaceto) + std::string(count) +
                    "\" needs a number of devices in 1.." + std::to_string(kMostDevices));
  }
  return config;
}

}  // namespace

const std::vector<std::string>& device_presets() {
  static const std::vector<std::string> names = {"placeto:N", "a100x4", "a100x8",
                                                 "a100x8_two_hosts"};
  return names;
}

bool names_devices_file(std::string_view name_or_file) {
  return !name_or_file.starts_with(kPlaceto) &&
         std::ranges::find(device_presets(), name_or_file) == device_presets().end();
}

DevicesConfig devices_config(std::string_view name_or_file) {
  if (name_or_file.starts_with(kPlaceto)) return placeto(name_or_file.substr(kPlaceto.size()));
  if (name_or_file == "a100x4") return a100s(4, 4);
  if (name_or_file == "a100x8") return a100s(8, 8);
  if (name_or_file == "a100x8_two_hosts") return a100s(8, 4);
  const std::filesystem::path file(name_or_file);
  if (!is_there(file)) {
    throw UserError("devices: there is no file \"" + std::string(name_or_file) +
                    "\", and none of these is called so: " + join(device_presets()));
  }
  return read_config<DevicesConfig>(ConfigSource::from_lone_file(file));
}

}  // namespace pacml::env

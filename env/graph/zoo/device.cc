#include "env/graph/zoo/device.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "common/config/reader.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::env::zoo {
namespace {

constexpr double kMostRate = 1e21;  // operations or bytes per second: above it is no device

}  // namespace

std::vector<std::string> validate(const Device& device) {
  std::vector<std::string> problems;
  const auto within = [&](const char* key, double value, double least, double most,
                          const char* range) {
    if (!(value >= least && value <= most)) {
      problems.push_back(std::string(key) + ": must be in " + range);
    }
  };
  for (const auto& [key, rate] :
       {std::pair("peak_flops", device.peak_flops),
        std::pair("memory_bandwidth", device.memory_bandwidth),
        std::pair("host_link_bandwidth", device.host_link_bandwidth),
        std::pair("decoded_images_per_second", device.decoded_images_per_second)}) {
    within(key, rate, 1, kMostRate, "1..1e21");
  }
  if (device.peak_half_flops != 0) {
    within("peak_half_flops", device.peak_half_flops, 1, kMostRate, "1..1e21, or 0 for peak_flops");
  }
  within("compute_efficiency", device.compute_efficiency, 1e-6, 1, "(0, 1]");
  within("memory_efficiency", device.memory_efficiency, 1e-6, 1, "(0, 1]");
  within("op_seconds", device.op_seconds, 0, 1, "0..1");
  within("launch_seconds", device.launch_seconds, 0, 1, "0..1");
  within("memory_bytes", device.memory_bytes, 1, 1e18, "1..1e18");
  return problems;
}

Device a100() {
  return {.name = "a100",
          .peak_flops = 19.5e12,
          .peak_half_flops = 312e12,
          .memory_bandwidth = 1.935e12,
          .host_link_bandwidth = 25e9,
          .memory_bytes = 80e9};
}

Device v100() {
  return {.name = "v100",
          .peak_flops = 14e12,
          .peak_half_flops = 112e12,
          .memory_bandwidth = 0.9e12,
          .host_link_bandwidth = 12e9,
          .memory_bytes = 32e9};
}

Device h100() {
  return {.name = "h100",
          .peak_flops = 51e12,
          .peak_half_flops = 756e12,
          .memory_bandwidth = 2e12,
          .host_link_bandwidth = 50e9,
          .memory_bytes = 80e9};
}

Device cpu() {
  return {.name = "cpu",
          .peak_flops = 64 * 2.25e9 * 32,
          .memory_bandwidth = 204.8e9,
          .op_seconds = 20e-6,
          .host_link_bandwidth = 204.8e9,
          .memory_bytes = 512e9};
}

std::vector<std::string> device_names() { return {"a100", "cpu", "h100", "v100"}; }

Device device_of(std::string_view name) {
  for (const Device& device : {a100(), cpu(), h100(), v100()}) {
    if (device.name == name) return device;
  }
  throw UserError("there is no device description '" + std::string(name) + "'" +
                  did_you_mean(name, device_names()));
}

Device device_of_name_or_file(const std::string& name_or_file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(name_or_file, error)) return device_of(name_or_file);
  auto device = read_config<Device>(ConfigSource::from_lone_file(name_or_file));
  if (device.name.empty()) device.name = std::filesystem::path(name_or_file).stem().string();
  return device;
}

}  // namespace pacml::env::zoo

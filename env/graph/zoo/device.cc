#include "env/graph/zoo/device.h"

#include "common/result.h"
#include "common/text.h"

namespace pacml::env::zoo {

Device a100() {
  return {.name = "a100",
          .peak_flops = 19.5e12,
          .memory_bandwidth = 1.935e12,
          .compute_efficiency = 0.6,
          .memory_efficiency = 0.8,
          .op_seconds = 150e-6,
          .launch_seconds = 5e-6,
          .host_link_bandwidth = 25e9,
          .decoded_images_per_second = 500};
}

Device v100() {
  return {.name = "v100",
          .peak_flops = 14e12,
          .memory_bandwidth = 0.9e12,
          .compute_efficiency = 0.6,
          .memory_efficiency = 0.8,
          .op_seconds = 150e-6,
          .launch_seconds = 5e-6,
          .host_link_bandwidth = 12e9,
          .decoded_images_per_second = 500};
}

std::vector<std::string> device_names() { return {"a100", "v100"}; }

Device device_of(std::string_view name) {
  for (const Device& device : {a100(), v100()}) {
    if (device.name == name) return device;
  }
  throw UserError("there is no device description '" + std::string(name) + "'" +
                  did_you_mean(name, device_names()));
}

}  // namespace pacml::env::zoo

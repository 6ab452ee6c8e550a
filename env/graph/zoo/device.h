#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pacml::env::zoo {

// An accelerator and the host that feeds it. Value type.
struct Device {
  std::string name;
  double peak_flops = 0;                 // float32 per second, tensor cores not used
  double memory_bandwidth = 0;           // bytes per second
  double compute_efficiency = 0;         // of peak_flops that matrix products reach; in (0, 1]
  double memory_efficiency = 0;          // of memory_bandwidth that streaming reaches; in (0, 1]
  double op_seconds = 0;                 // of the framework around every op, whatever the op does
  double launch_seconds = 0;             // until a kernel runs
  double host_link_bandwidth = 0;        // bytes per second, as reached
  double decoded_images_per_second = 0;  // by the host's workers: read, decode, crop, normalise
};

// Peaks are the vendor's data sheet's (PCIe cards). The rest are typical figures, not measurements
// of ours: 60 % of peak arithmetic and 80 % of peak bandwidth are reached; a framework that runs op
// by op, with a profiler that waits for the device after each, adds 150 us to an op and 5 us to
// each of its kernels; the host prepares 500 images a second (ten workers at 50).
[[nodiscard]] Device a100();
[[nodiscard]] Device v100();

[[nodiscard]] std::vector<std::string> device_names();
// By name. UserError with the nearest name when there is none.
[[nodiscard]] Device device_of(std::string_view name);

}  // namespace pacml::env::zoo

#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"

namespace pacml::env::zoo {

// An accelerator and the host that feeds it. Value type.
struct Device {
  std::string name;
  double peak_flops = 0;                   // float32 per second, tensor cores not used
  double peak_half_flops = 0;              // of 16-bit matrix products; 0: as many as peak_flops
  double memory_bandwidth = 0;             // bytes per second
  double compute_efficiency = 0.6;         // of peak_flops that matrix products reach; in (0, 1]
  double memory_efficiency = 0.8;          // of memory_bandwidth that streaming reaches; in (0, 1]
  double op_seconds = 150e-6;              // of the framework around every op, whatever the op does
  double launch_seconds = 5e-6;            // until a kernel runs
  double host_link_bandwidth = 25e9;       // bytes per second, as reached
  double decoded_images_per_second = 500;  // by the host's workers: read, decode, crop, normalise
  double memory_bytes = 80e9;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, Device>
void visit_fields(Config& c, Visitor&& v) {
  v("name", c.name);
  v("peak_flops", c.peak_flops);
  v("peak_half_flops", c.peak_half_flops);
  v("memory_bandwidth", c.memory_bandwidth);
  v("compute_efficiency", c.compute_efficiency);
  v("memory_efficiency", c.memory_efficiency);
  v("op_seconds", c.op_seconds);
  v("launch_seconds", c.launch_seconds);
  v("host_link_bandwidth", c.host_link_bandwidth);
  v("decoded_images_per_second", c.decoded_images_per_second);
  v("memory_bytes", c.memory_bytes);
}
// Every problem, as a sentence that begins with the key.
[[nodiscard]] std::vector<std::string> validate(const Device& device);

// Peaks are the vendor's data sheet's (PCIe cards; without sparsity). The rest are typical figures,
// not measurements of ours: 60 % of peak arithmetic and 80 % of peak bandwidth are reached; a
// framework that runs op by op, with a profiler that waits for the device after each, adds 150 us
// to an op and 5 us to each of its kernels; the host prepares 500 images a second (ten workers at
// 50).
[[nodiscard]] Device a100();
[[nodiscard]] Device v100();
[[nodiscard]] Device h100();
// A server's processor: 64 cores at 2.25 GHz that do 32 operations a cycle, eight channels of
// DDR4-3200. Nothing is copied to it over a link that is slower than its memory.
[[nodiscard]] Device cpu();

[[nodiscard]] std::vector<std::string> device_names();
// By name. UserError with the nearest name when there is none.
[[nodiscard]] Device device_of(std::string_view name);
// By name, or out of a file (YAML) with the fields of Device. UserError: neither; what the file
// says cannot be.
[[nodiscard]] Device device_of_name_or_file(const std::string& name_or_file);

}  // namespace pacml::env::zoo

#pragma once

#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"

namespace pacml::env {

// PipeDream profiles are in milliseconds. The published simulator reads them as seconds, so that
// communication, computed from bytes and bandwidth, looks 1000 times cheaper than it is.
enum class TimeUnit {
  kPaper,     // a profile's millisecond is one unit of simulated time, a second of communication as
              // well
  kPhysical,  // simulated time is in seconds throughout; inter-arrival times and horizon too
};
constexpr auto enum_names(TimeUnit) {
  return std::to_array<EnumName<TimeUnit>>(
      {{"paper", TimeUnit::kPaper}, {"physical", TimeUnit::kPhysical}});
}

// A RAMP optical cluster: communication groups x racks per group x servers per rack, one worker
// (GPU) per server, every ordered pair of servers joined by a channel. Defaults: the paper's.
struct RampConfig {
  std::array<int, 3> topology = {4, 4,
                                 2};  // groups, racks per group, servers per rack; racks <= groups
  int num_channels = 1;               // per ordered server pair, must be 1
  double total_node_bandwidth = 1.6e12;  // bytes/s per server, shared by the communication groups
  double propagation_latency = 50e-9;    // s
  double worker_io_latency = 100e-9;     // s
  double worker_memory = 80e9;           // bytes
  bool operator==(const RampConfig&) const = default;
};

// Of a topology.
[[nodiscard]] constexpr int num_servers(const std::array<int, 3>& topology) {
  return topology[0] * topology[1] * topology[2];
}
// "4x4x2".
[[nodiscard]] std::string spell_topology(const std::array<int, 3>& topology);

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, RampConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("topology", c.topology);
  v("num_channels", c.num_channels);
  v("total_node_bandwidth", c.total_node_bandwidth);
  v("propagation_latency", c.propagation_latency);
  v("worker_io_latency", c.worker_io_latency);
  v("worker_memory", c.worker_memory);
}

[[nodiscard]] std::vector<std::string> validate(const RampConfig& config);

}  // namespace pacml::env

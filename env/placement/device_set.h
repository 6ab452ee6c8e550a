#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "env/placement/placement_semantics.h"

namespace pacml::env {

// What the published simulator is made of.
struct PlacetoConstants {
  double delta1_us = 5.7;      // from the end of an operation that costs something to the next
  double delta2_us = 25;       // from the end of a transfer to the next on the same bus
  double init_offset_us = 0;   // when operations without parents are ready
  double bytes_per_us = 7600;  // of a bus
  bool operator==(const PlacetoConstants&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, PlacetoConstants>
void visit_fields(Config& c, Visitor&& v) {
  v("delta1_us", c.delta1_us);
  v("delta2_us", c.delta2_us);
  v("init_offset_us", c.init_offset_us);
  v("bytes_per_us", c.bytes_per_us);
}
[[nodiscard]] std::vector<std::string> validate(const PlacetoConstants& c);

// Who takes turns on what links carry.
enum class LinkSharing {
  kPair,    // each ordered pair of devices has a link of its own
  kDevice,  // all that leaves a device goes through one port
  kHost,    // all that leaves a host goes through one port
};
constexpr auto enum_names(LinkSharing /*unused*/) {
  return std::to_array<EnumName<LinkSharing>>({{"pair", LinkSharing::kPair},
                                               {"device", LinkSharing::kDevice},
                                               {"host", LinkSharing::kHost}});
}

struct LinkConfig {
  double gb_per_s = 100;  // 1e9 bytes; of a link or a port, in one direction
  double latency_us = 5;
  LinkSharing shared = LinkSharing::kPair;
  bool operator==(const LinkConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, LinkConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("gb_per_s", c.gb_per_s);
  v("latency_us", c.latency_us);
  v("shared", c.shared);
}
[[nodiscard]] std::vector<std::string> validate(const LinkConfig& c);

struct DeviceConfig {
  std::string name;
  std::string host = "host0";
  double speed = 1;        // an operation takes its cost divided by this
  double memory_gb = 80;   // 1e9 bytes
  double launch_us = 5.7;  // from the end of an operation that costs something to the next
  bool operator==(const DeviceConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, DeviceConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("name", c.name);
  v("host", c.host);
  v("speed", c.speed);
  v("memory_gb", c.memory_gb);
  v("launch_us", c.launch_us);
}
[[nodiscard]] std::vector<std::string> validate(const DeviceConfig& c);

// Of corrected semantics.
struct LinkedDevices {
  std::vector<DeviceConfig> devices;
  LinkConfig local = {};  // between devices of one host
  LinkConfig remote = {
      .gb_per_s = 12.5, .latency_us = 10, .shared = LinkSharing::kHost};  // between hosts
  // Memory that a byte of weights takes: itself, its gradient, Adam's two moments.
  double bytes_per_parameter_byte = 4;
  bool operator==(const LinkedDevices&) const = default;
};

// Of published semantics, which know equal devices only.
struct PlacetoDevices {
  int count = 0;
  PlacetoConstants constants = {};
  double limit_gb = 0;  // a device's memory; 0: no limit
  bool operator==(const PlacetoDevices&) const = default;
};

// The devices that operations are placed on, as a file describes them. Those of the other semantics
// are as they are by default.
struct DevicesConfig {
  PlacementSemantics semantics = PlacementSemantics::kCorrected;
  LinkedDevices corrected = {};
  PlacetoDevices placeto = {};
  bool operator==(const DevicesConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, DevicesConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("semantics", c.semantics);
  v("devices", c.corrected.devices);
  v("local", c.corrected.local);
  v("remote", c.corrected.remote);
  v("bytes_per_parameter_byte", c.corrected.bytes_per_parameter_byte);
  v("count", c.placeto.count);
  v("constants", c.placeto.constants);
  v("limit_gb", c.placeto.limit_gb);
}
[[nodiscard]] std::vector<std::string> validate(const DevicesConfig& c);

inline constexpr std::size_t kMostDevices = 256;

// Devices and what connects them, laid out for simulation. Immutable; any thread.
class DeviceSet {
 public:
  // UserError with the first problem of validate(config).
  explicit DeviceSet(const DevicesConfig& config);
  // Equal devices 0, 1, ... of the published simulator, without a limit of memory.
  [[nodiscard]] static DeviceSet placeto(int count, const PlacetoConstants& constants = {});

  [[nodiscard]] PlacementSemantics semantics() const { return config_.semantics; }
  [[nodiscard]] const PlacetoConstants& constants() const { return config_.placeto.constants; }
  [[nodiscard]] const DevicesConfig& config() const { return config_; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t d) const { return names_[d]; }
  [[nodiscard]] double speed(std::size_t d) const { return speed_[d]; }
  [[nodiscard]] double launch_us(std::size_t d) const { return launch_us_[d]; }
  // Infinite where there is no limit.
  [[nodiscard]] double memory_bytes(std::size_t d) const { return memory_bytes_[d]; }
  [[nodiscard]] double bytes_per_parameter_byte() const {
    return semantics() == PlacementSemantics::kPlaceto ? 0
                                                       : config_.corrected.bytes_per_parameter_byte;
  }

  // What carries data from one device to another: one transfer at a time, in the order in which
  // they were asked for. Pre: from != to.
  [[nodiscard]] std::size_t num_channels() const { return num_channels_; }
  [[nodiscard]] std::size_t channel(std::size_t from, std::size_t to) const {
    return static_cast<std::size_t>(channel_[from * size() + to]);
  }
  [[nodiscard]] double bytes_per_us(std::size_t from, std::size_t to) const {
    return bytes_per_us_[from * size() + to];
  }
  [[nodiscard]] double latency_us(std::size_t from, std::size_t to) const {
    return latency_us_[from * size() + to];
  }
  // Between two devices that are drawn at random, and may be the same: microseconds a byte.
  [[nodiscard]] double mean_us_per_byte() const { return mean_us_per_byte_; }

 private:
  void connect_buses();
  void connect_links();

  DevicesConfig config_;
  std::vector<std::string> names_;
  std::vector<double> speed_;
  std::vector<double> launch_us_;
  std::vector<double> memory_bytes_;
  std::size_t num_channels_ = 0;
  std::vector<std::int32_t> channel_;  // [from, to]; -1 on the diagonal
  std::vector<double> bytes_per_us_;   // [from, to]
  std::vector<double> latency_us_;     // [from, to]
  double mean_us_per_byte_ = 0;
};
using DeviceSetPtr = std::shared_ptr<const DeviceSet>;

}  // namespace pacml::env

#include "env/placement/device_set.h"

#include <array>
#include <limits>
#include <map>
#include <set>

#include "common/result.h"

namespace pacml::env {
namespace {

constexpr double kGb = 1e9;
constexpr double kUsPerSecond = 1e6;

// Speeds and rates, far from where what is divided by them would overflow.
bool is_rate(double v) { return v >= 1e-9 && v <= 1e18; }
bool is_amount(double v) { return v >= 0 && v <= 1e18; }

}  // namespace

std::vector<std::string> validate(const PlacetoConstants& c) {
  std::vector<std::string> problems;
  if (!is_amount(c.delta1_us)) problems.emplace_back("delta1_us: must be in 0..1e18");
  if (!is_amount(c.delta2_us)) problems.emplace_back("delta2_us: must be in 0..1e18");
  if (!is_amount(c.init_offset_us)) {
    problems.emplace_back("init_offset_us: must be in 0..1e18");
  }
  if (!is_rate(c.bytes_per_us)) problems.emplace_back("bytes_per_us: must be in 1e-9..1e18");
  return problems;
}

std::vector<std::string> validate(const LinkConfig& c) {
  std::vector<std::string> problems;
  if (!is_rate(c.gb_per_s)) problems.emplace_back("gb_per_s: must be in 1e-9..1e18");
  if (!is_amount(c.latency_us)) problems.emplace_back("latency_us: must be in 0..1e18");
  return problems;
}

std::vector<std::string> validate(const DeviceConfig& c) {
  std::vector<std::string> problems;
  if (c.name.empty()) problems.emplace_back("name: a device needs one");
  if (!is_rate(c.speed)) problems.emplace_back("speed: must be in 1e-9..1e18");
  if (!(c.memory_gb > 0)) problems.emplace_back("memory_gb: must be above 0");
  if (!is_amount(c.launch_us)) problems.emplace_back("launch_us: must be in 0..1e18");
  return problems;
}

std::vector<std::string> validate(const DevicesConfig& c) {
  std::vector<std::string> problems;
  const LinkedDevices& linked = c.corrected;
  const PlacetoDevices& equal = c.placeto;
  const bool is_placeto = c.semantics == PlacementSemantics::kPlaceto;
  const auto most = std::to_string(kMostDevices);
  if (is_placeto && !linked.devices.empty()) {
    problems.emplace_back("devices: placeto knows equal devices only; set count instead");
  }
  if (is_placeto && (equal.count < 1 || equal.count > static_cast<int>(kMostDevices))) {
    problems.push_back("count: must be in 1.." + most);
  }
  if (!is_placeto && equal.count != 0) {
    problems.emplace_back("count: is for placeto; list the devices instead");
  }
  if (!is_placeto && (linked.devices.empty() || linked.devices.size() > kMostDevices)) {
    problems.push_back("devices: there must be 1 to " + most + " of them");
  }
  // What has no effect is a misunderstanding, unless it is what is so anyway.
  const auto check_other = [&](const char* name, bool is_given, const std::string& why) {
    if (is_given) problems.push_back(std::string(name) + ": is for " + why);
  };
  if (is_placeto) {
    const std::string why = "corrected semantics; set constants instead";
    check_other("local", linked.local != LinkedDevices().local, why);
    check_other("remote", linked.remote != LinkedDevices().remote, why);
    check_other("bytes_per_parameter_byte",
                linked.bytes_per_parameter_byte != LinkedDevices().bytes_per_parameter_byte,
                "corrected semantics; published ones do not count weights");
  } else {
    check_other("constants", equal.constants != PlacetoDevices().constants,
                "placeto; set launch_us of the devices, and local and remote, instead");
    check_other("limit_gb", equal.limit_gb != PlacetoDevices().limit_gb,
                "placeto; set memory_gb of the devices instead");
  }
  std::set<std::string> names;
  for (const DeviceConfig& device : linked.devices) {
    if (!names.insert(device.name).second) {
      problems.push_back("devices: there are two called \"" + device.name + "\"");
    }
  }
  if (linked.local.shared == LinkSharing::kHost) {
    problems.emplace_back("local.shared: must be pair or device");
  }
  if (!is_amount(linked.bytes_per_parameter_byte)) {
    problems.emplace_back("bytes_per_parameter_byte: must be in 0..1e18");
  }
  if (!is_amount(equal.limit_gb)) problems.emplace_back("limit_gb: must be in 0..1e18");
  return problems;
}

DeviceSet::DeviceSet(const DevicesConfig& config) : config_(config) {
  std::vector<std::string> problems = validate(config);
  for (const auto& part : {validate(config.corrected.local), validate(config.corrected.remote),
                           validate(config.placeto.constants)}) {
    problems.insert(problems.end(), part.begin(), part.end());
  }
  for (const DeviceConfig& device : config.corrected.devices) {
    const auto part = validate(device);
    problems.insert(problems.end(), part.begin(), part.end());
  }
  if (!problems.empty()) throw UserError("devices: " + problems.front());

  if (semantics() == PlacementSemantics::kPlaceto) {
    connect_buses();
  } else {
    connect_links();
  }
}

DeviceSet DeviceSet::placeto(int count, const PlacetoConstants& constants) {
  DevicesConfig config;
  config.semantics = PlacementSemantics::kPlaceto;
  config.placeto.count = count;
  config.placeto.constants = constants;
  return DeviceSet(config);
}

void DeviceSet::connect_buses() {
  const PlacetoDevices& equal = config_.placeto;
  const auto n = static_cast<std::size_t>(equal.count);
  for (std::size_t d = 0; d < n; ++d) names_.push_back(std::to_string(d));
  speed_.assign(n, 1.0);
  launch_us_.assign(n, equal.constants.delta1_us);
  memory_bytes_.assign(
      n, equal.limit_gb > 0 ? equal.limit_gb * kGb : std::numeric_limits<double>::infinity());
  num_channels_ = n;
  channel_.assign(n * n, -1);
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      if (from != to) channel_[from * n + to] = static_cast<std::int32_t>(from);
    }
  }
  bytes_per_us_.assign(n * n, equal.constants.bytes_per_us);
  latency_us_.assign(n * n, 0.0);
  mean_us_per_byte_ = (1 - 1.0 / static_cast<double>(n)) / equal.constants.bytes_per_us;
}

void DeviceSet::connect_links() {
  const LinkedDevices& linked = config_.corrected;
  const std::size_t n = linked.devices.size();
  std::map<std::string, std::int32_t> hosts;
  std::vector<std::int32_t> host_of;
  for (const DeviceConfig& device : linked.devices) {
    names_.push_back(device.name);
    speed_.push_back(device.speed);
    launch_us_.push_back(device.launch_us);
    memory_bytes_.push_back(device.memory_gb * kGb);
    host_of.push_back(
        hosts.try_emplace(device.host, static_cast<std::int32_t>(hosts.size())).first->second);
  }
  channel_.assign(n * n, -1);
  bytes_per_us_.assign(n * n, 0.0);
  latency_us_.assign(n * n, 0.0);
  // A channel is known by whether it leaves the host, and by whose it is.
  std::map<std::array<std::int64_t, 3>, std::int32_t> channels;
  double us_per_byte = 0;
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      if (from == to) continue;
      const bool is_local = host_of[from] == host_of[to];
      const LinkConfig& link = is_local ? linked.local : linked.remote;
      std::array<std::int64_t, 3> owner{is_local ? 0 : 1, 0, -1};
      owner[1] =
          link.shared == LinkSharing::kHost ? host_of[from] : static_cast<std::int64_t>(from);
      if (link.shared == LinkSharing::kPair) owner[2] = static_cast<std::int64_t>(to);
      channel_[from * n + to] =
          channels.try_emplace(owner, static_cast<std::int32_t>(channels.size())).first->second;
      bytes_per_us_[from * n + to] = link.gb_per_s * kGb / kUsPerSecond;
      latency_us_[from * n + to] = link.latency_us;
      us_per_byte += 1 / bytes_per_us_[from * n + to];
    }
  }
  num_channels_ = channels.size();
  mean_us_per_byte_ = us_per_byte / static_cast<double>(n * n);
}

}  // namespace pacml::env

#include "apps/trace/placement_json.h"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/json_text.h"
#include "common/result.h"

namespace pacml::apps {

using nlohmann::json;

const json& placement_member(const json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || it == object.end()) {
    throw UserError(std::string("the recording has no \"") + key + "\"");
  }
  return *it;
}

double placement_number(const json& value, const std::string& what) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && number <= 1e18)) {
    throw UserError(what + ": expected a number from 0 to 1e18");
  }
  return number;
}

std::int32_t placement_index(const json& value, std::size_t below, const std::string& what) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && number < static_cast<double>(below)) || number != std::floor(number)) {
    throw UserError(what + ": expected a whole number below " + std::to_string(below) + ", found " +
                    json_text(value));
  }
  return static_cast<std::int32_t>(number);
}

std::vector<std::int32_t> placement_indices(const json& list, std::size_t below,
                                            const std::string& what) {
  if (!list.is_array()) throw UserError(what + ": expected a list");
  std::vector<std::int32_t> indices;
  for (const json& value : list) indices.push_back(placement_index(value, below, what));
  return indices;
}

json byte_amount(double value) {
  constexpr double kExact = 9007199254740992.0;
  if (value == std::floor(value) && std::abs(value) < kExact) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

json byte_amounts(std::span<const double> values) {
  json list = json::array();
  for (const double v : values) list.push_back(byte_amount(v));
  return list;
}

env::DeviceSetPtr recorded_devices(const json& recorded) {
  const json& c = placement_member(recorded, "constants");
  const auto constant = [&](const char* key) {
    return placement_number(placement_member(c, key), key);
  };
  return std::make_shared<const env::DeviceSet>(env::DeviceSet::placeto(
      placement_index(placement_member(recorded, "devices"), env::kMostDevices + 1, "devices"),
      {.delta1_us = constant("delta1_us"),
       .delta2_us = constant("delta2_us"),
       .init_offset_us = constant("init_offset_us"),
       .bytes_per_us = constant("bytes_per_us")}));
}

}  // namespace pacml::apps

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/http/http_message.h"

namespace pacml::apps {

// What the process says of itself, whatever its role.
struct ProcessState {
  bool healthy = true;
  bool ready = false;
  std::int64_t resident_bytes = 0;
};

// The content type of Prometheus' text format.
inline constexpr const char* kExpositionType = "text/plain; version=0.0.4; charset=utf-8";

// A role's status in that format: every figure that docs/monitoring.md lists and `status` has; what
// is absent, null or of another type is left out. Labels are role and, where it is a number, shard.
// Pure.
[[nodiscard]] std::string exposition(const nlohmann::json& status, const ProcessState& process,
                                     const HttpCounters& http);

}  // namespace pacml::apps

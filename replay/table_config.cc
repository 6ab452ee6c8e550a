#include "replay/table_config.h"

#include <algorithm>

namespace pacml::replay {

std::vector<std::string> validate(const TableConfig& config) {
  std::vector<std::string> problems;
  const auto require = [&problems](bool holds, const char* key, const std::string& what,
                                   auto value) {
    if (holds) return;
    problems.push_back(std::string(key) + " must be " + what + ", not " + std::to_string(value));
  };
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  constexpr double kMostSamples = 1e9;
  constexpr double kMostBuffer = 1e15;
  require(config.capacity >= 1 && config.capacity <= kMost, "capacity",
          "from 1 to " + std::to_string(kMost), config.capacity);
  require(config.max_bytes >= 0, "max_bytes", "at least 0", config.max_bytes);
  require(config.priority_exponent >= 0 && config.priority_exponent <= 1, "priority_exponent",
          "from 0 to 1", config.priority_exponent);
  require(config.max_times_sampled >= 0 && config.max_times_sampled <= kMost, "max_times_sampled",
          "from 0 to " + std::to_string(kMost), config.max_times_sampled);
  require(config.samples_per_insert >= 0 && config.samples_per_insert <= kMostSamples,
          "samples_per_insert", "from 0 to 1e9", config.samples_per_insert);
  require(config.min_size >= 1 && config.min_size <= config.capacity, "min_size",
          "from 1 to capacity (" + std::to_string(config.capacity) + ")", config.min_size);
  require(config.error_buffer >= std::max(1.0, config.samples_per_insert) &&
              config.error_buffer <= kMostBuffer,
          "error_buffer", "at least 1, at least samples_per_insert, and at most 1e15",
          config.error_buffer);
  return problems;
}

RateLimiterConfig rate_limiter_of(const TableConfig& config) {
  return {config.samples_per_insert, config.min_size, config.error_buffer};
}

}  // namespace pacml::replay

#include "replay/rate_limiter.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "common/check.h"

namespace pacml::replay {

RateLimiter::RateLimiter(const RateLimiterConfig& config) : config_(config) {
  PACML_CHECK(config.min_size >= 1 && config.samples_per_insert >= 0, "the settings are validated");
  PACML_CHECK(config.samples_per_insert == 0 ||
                  config.error_buffer >= std::max(1.0, config.samples_per_insert),
              "a smaller buffer could stall both sides");
}

double RateLimiter::surplus() const {
  const double inserts =
      static_cast<double>(counts_.inserted) - static_cast<double>(config_.min_size);
  return config_.samples_per_insert * inserts - static_cast<double>(counts_.sampled);
}

RateLimit RateLimiter::limit(std::size_t size) const {
  if (size < static_cast<std::size_t>(config_.min_size)) return RateLimit::kSamplesForItems;
  if (config_.samples_per_insert == 0) return RateLimit::kOpen;
  if (surplus() - 1 < -config_.error_buffer) return RateLimit::kSamplesForInserts;
  if (surplus() + config_.samples_per_insert > config_.error_buffer) {
    return RateLimit::kInsertsForSamples;
  }
  return RateLimit::kOpen;
}

std::uint64_t RateLimiter::insert_room(std::size_t size) const {
  if (config_.samples_per_insert == 0) return kNoLimit;
  const auto min_size = static_cast<std::size_t>(config_.min_size);
  const double until_full = size < min_size ? static_cast<double>(min_size - size) : 0;
  const double until_closed = (config_.error_buffer - surplus()) / config_.samples_per_insert;
  return static_cast<std::uint64_t>(std::clamp(until_closed, until_full, 9e15));
}

bool RateLimiter::can_insert(std::size_t size) const {
  return limit(size) != RateLimit::kInsertsForSamples;
}

bool RateLimiter::can_sample(std::size_t size) const {
  const RateLimit now = limit(size);
  return now == RateLimit::kOpen || now == RateLimit::kInsertsForSamples;
}

std::string RateLimiter::describe(std::size_t size) const {
  std::array<char, 160> text{};
  const auto print = [&text](const char* format, auto... values) {
    std::snprintf(text.data(), text.size(), format, values...);
    return std::string(text.data());
  };
  const double per_insert = counts_.inserted == 0 ? 0
                                                  : static_cast<double>(counts_.sampled) /
                                                        static_cast<double>(counts_.inserted);
  switch (limit(size)) {
    case RateLimit::kOpen:
      return "nobody waits";
    case RateLimit::kSamplesForItems:
      return "samples wait for items: " + std::to_string(size) + " of " +
             std::to_string(config_.min_size);
    case RateLimit::kSamplesForInserts:
      return print("samples wait for inserts: %.3g samples an insert, %.3g wanted", per_insert,
                   config_.samples_per_insert);
    case RateLimit::kInsertsForSamples:
      return print("inserts wait for samples: %.3g samples an insert, %.3g wanted", per_insert,
                   config_.samples_per_insert);
  }
  return {};
}

}  // namespace pacml::replay

#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "replay/rate_limiter.h"

namespace pacml::replay {

// Which item is drawn next.
enum class Sampler { kFifo, kUniform, kPrioritized };

constexpr auto enum_names(Sampler) {
  return std::to_array<EnumName<Sampler>>({{"fifo", Sampler::kFifo},
                                           {"uniform", Sampler::kUniform},
                                           {"prioritized", Sampler::kPrioritized}});
}

// Which item goes when there is no room. None of them looks at priorities: evicting the lowest
// would keep what was once surprising for ever.
enum class Remover { kFifo, kUniform };

constexpr auto enum_names(Remover) {
  return std::to_array<EnumName<Remover>>(
      {{"fifo", Remover::kFifo}, {"uniform", Remover::kUniform}});
}

// One table. The defaults are Ape-X's (Horgan et al. 2018, arXiv:1803.00933) but for its size,
// which was 2^21 items of about 20 times the bytes.
struct TableConfig {
  std::int64_t capacity = 1 << 20;         // items; from 1 to 2^31
  std::int64_t max_bytes = 1'073'741'824;  // of payloads; 0: no bound
  Sampler sampler = Sampler::kPrioritized;
  Remover remover = Remover::kFifo;
  double priority_exponent = 0.6;      // alpha; from 0 to 1
  std::int64_t max_times_sampled = 0;  // draws after which an item goes; 0: never

  // replay/rate_limiter.h
  double samples_per_insert = 0;   // 0: no limit
  std::int64_t min_size = 10'000;  // items before the first draw; from 1 to capacity
  double error_buffer = 100'000;   // draws; several batches of samples, and of inserts times
                                   // samples_per_insert
  bool operator==(const TableConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, TableConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("capacity", c.capacity);
  v("max_bytes", c.max_bytes);
  v("sampler", c.sampler);
  v("remover", c.remover);
  v("priority_exponent", c.priority_exponent);
  v("max_times_sampled", c.max_times_sampled);
  v("samples_per_insert", c.samples_per_insert);
  v("min_size", c.min_size);
  v("error_buffer", c.error_buffer);
}

// Every problem of these fields, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const TableConfig& config);

[[nodiscard]] RateLimiterConfig rate_limiter_of(const TableConfig& config);

}  // namespace pacml::replay

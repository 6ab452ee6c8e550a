#include "replay/rate_limiter.h"

#include <algorithm>
#include <cmath>

#include "common/rng.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

RateLimiterConfig random_config(Rng& rng) {
  RateLimiterConfig config;
  config.samples_per_insert = rng.below(4) == 0 ? 0 : std::pow(10, rng.uniform() * 4 - 2);
  config.min_size = 1 + static_cast<std::int64_t>(rng.below(100));
  config.error_buffer = std::max(1.0, config.samples_per_insert) * (1 + 5 * rng.uniform());
  if (rng.below(3) == 0) config.error_buffer = std::max(1.0, config.samples_per_insert);
  return config;
}

}  // namespace

TEST_CASE("whatever happened, one side at least may go on") {
  Rng rng(Seed{1});
  for (int round = 0; round < 500; ++round) {
    const RateLimiterConfig config = random_config(rng);
    RateLimiter limiter(config);
    std::size_t size = 0;
    for (int step = 0; step < 500; ++step) {
      CAPTURE(config.samples_per_insert, config.min_size, config.error_buffer, size);
      REQUIRE((limiter.can_insert(size) || limiter.can_sample(size)));
      const bool waits = limiter.limit(size) != RateLimit::kOpen;
      REQUIRE(waits == !(limiter.can_insert(size) && limiter.can_sample(size)));
      // Batches overshoot, and items go for other reasons.
      const std::uint64_t batch = 1 + rng.below(50);
      if (limiter.can_insert(size) && rng.below(2) == 0) {
        limiter.inserted(batch);
        size += batch;
      } else if (limiter.can_sample(size)) {
        limiter.sampled(batch);
      }
      if (rng.below(20) == 0) size -= std::min<std::size_t>(size, rng.below(50));
    }
  }
}

TEST_CASE("however greedy one side is, the ratio stays within the error buffer and a batch") {
  Rng rng(Seed{2});
  for (int round = 0; round < 300; ++round) {
    RateLimiterConfig config = random_config(rng);
    config.samples_per_insert = std::max(0.01, config.samples_per_insert);
    RateLimiter limiter(config);
    const std::uint64_t batch = 1 + rng.below(64);
    const double greed = rng.uniform();
    std::size_t size = 0;
    for (int step = 0; step < 1000; ++step) {
      if (rng.uniform() < greed && limiter.can_insert(size)) {
        limiter.inserted(batch);
        size += batch;
      } else if (limiter.can_sample(size)) {
        limiter.sampled(batch);
      }
      const auto& [inserted, sampled] = limiter.counts();
      if (size < static_cast<std::size_t>(config.min_size)) continue;
      const double owed = config.samples_per_insert * (static_cast<double>(inserted) -
                                                       static_cast<double>(config.min_size)) -
                          static_cast<double>(sampled);
      const auto overshoot = static_cast<double>(batch - 1);
      CAPTURE(config.samples_per_insert, config.error_buffer, batch, inserted, sampled);
      REQUIRE(owed <= std::max(config.error_buffer, 0.0) +
                          config.samples_per_insert * (overshoot + 1) + 1e-6);
      REQUIRE(owed >= -config.error_buffer - overshoot - 1e-6);
    }
  }
}

TEST_CASE("inserts have to wait after as many as there was room for") {
  Rng rng(Seed{5});
  for (int round = 0; round < 300; ++round) {
    const RateLimiterConfig config = random_config(rng);
    RateLimiter limiter(config);
    std::size_t size = 0;
    for (int step = 0; step < 50; ++step) {
      CAPTURE(config.samples_per_insert, config.min_size, config.error_buffer, size);
      const std::uint64_t room = limiter.insert_room(size);
      if (config.samples_per_insert == 0) {
        REQUIRE(room == RateLimiter::kNoLimit);
        break;
      }
      std::uint64_t taken = 0;
      for (; taken < 200 && limiter.can_insert(size); ++taken) {
        limiter.inserted(1);
        ++size;
      }
      // Rounding may cost or give one.
      if (taken < 200) {
        REQUIRE(taken + 1 >= room);
        REQUIRE(taken <= room + 1);
      } else {
        REQUIRE(room >= 199);
      }
      if (limiter.can_sample(size)) limiter.sampled(1 + rng.below(300));
    }
  }
}

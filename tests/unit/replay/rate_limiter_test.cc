#include "replay/rate_limiter.h"

#include "tests/support/catch.h"

using namespace pacml::replay;

TEST_CASE("samples wait for the minimum size, and inserts do not") {
  RateLimiter limiter({.samples_per_insert = 0, .min_size = 3, .error_buffer = 1});
  CHECK_FALSE(limiter.can_sample(2));
  CHECK(limiter.can_insert(2));
  CHECK(limiter.limit(2) == RateLimit::kSamplesForItems);
  CHECK(limiter.describe(2) == "samples wait for items: 2 of 3");
  CHECK(limiter.can_sample(3));
  CHECK(limiter.limit(3) == RateLimit::kOpen);
}

TEST_CASE("without a ratio, neither side waits for the other") {
  RateLimiter limiter({.samples_per_insert = 0, .min_size = 1, .error_buffer = 1});
  limiter.inserted(1'000'000);
  CHECK(limiter.can_insert(1'000'000));
  limiter.sampled(1'000'000'000);
  CHECK(limiter.can_sample(1));
  CHECK(limiter.describe(1) == "nobody waits");
}

TEST_CASE("samples wait when they are ahead by the error buffer, to the draw") {
  RateLimiter limiter({.samples_per_insert = 2, .min_size = 10, .error_buffer = 6});
  limiter.inserted(10);
  for (int i = 0; i < 6; ++i) {
    REQUIRE(limiter.can_sample(10));
    limiter.sampled(1);
  }
  CHECK_FALSE(limiter.can_sample(10));
  CHECK(limiter.limit(10) == RateLimit::kSamplesForInserts);
  CHECK(limiter.describe(10) == "samples wait for inserts: 0.6 samples an insert, 2 wanted");
  limiter.inserted(1);
  CHECK(limiter.can_sample(11));
}

TEST_CASE("inserts wait when they are ahead by the error buffer, to the item") {
  RateLimiter limiter({.samples_per_insert = 2, .min_size = 10, .error_buffer = 6});
  limiter.inserted(10);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(limiter.can_insert(10));
    limiter.inserted(1);
  }
  CHECK_FALSE(limiter.can_insert(10));
  CHECK(limiter.limit(10) == RateLimit::kInsertsForSamples);
  CHECK(limiter.describe(10) == "inserts wait for samples: 0 samples an insert, 2 wanted");
  CHECK(limiter.can_insert(9));  // below the minimum size, nothing keeps an insert waiting
  limiter.sampled(2);
  CHECK(limiter.can_insert(10));
}

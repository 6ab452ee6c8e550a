#include <deque>

#include "common/bounded_queue.h"
#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("a bounded queue agrees with a plain list", "[property][queue]") {
  const auto seed = GENERATE(range(0, 50));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  BoundedQueue<std::uint64_t> queue(1 + rng.below(5));
  std::deque<std::uint64_t> model;
  bool closed = false;
  for (int step = 0; step < 500; ++step) {
    switch (rng.below(step > 450 ? 5 : 4)) {
      case 0:
      case 1: {
        const std::uint64_t value = rng.next();
        const bool fits = !closed && model.size() < queue.capacity();
        REQUIRE(queue.try_push(std::uint64_t{value}).has_value() == fits);
        if (fits) model.push_back(value);
        break;
      }
      case 4:
        queue.close();
        closed = true;
        break;
      default: {
        const auto got = queue.try_pop();
        REQUIRE(got.has_value() == !model.empty());
        if (got) {
          REQUIRE(*got == model.front());
          model.pop_front();
        } else {
          REQUIRE(got.error().code == (closed ? Errc::kStopped : Errc::kTimeout));
        }
      }
    }
    REQUIRE(queue.size() == model.size());
  }
}

}  // namespace
}  // namespace pacml

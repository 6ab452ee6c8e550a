#include "learner/wanted_work.h"

#include <limits>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

TEST_CASE("what is in flight leaves room within the lag that is allowed", "[unit][learner]") {
  UpdateSize update;
  update.batch_decisions = 2'000;
  update.max_policy_lag = GENERATE(2, 3, 20, 1'000);
  LearnerConfig learner;
  learner.replicas = GENERATE(1, 3);
  const auto work = wanted_work(update, learner);
  const auto share = static_cast<std::uint64_t>((2'000 + learner.replicas - 1) / learner.replicas);
  CHECK(work.most <= share * static_cast<std::uint64_t>(update.max_policy_lag) / 2);
  CHECK(work.least <= work.most);
  CHECK(work.most >= share);  // an update is possible
}

TEST_CASE("weights are refreshed as rarely as what is under way and slow actors allow",
          "[unit][learner]") {
  constexpr std::uint64_t kLag = 20;
  serving::WorkWindowConfig config;
  config.least = 6'000;
  config.most = 20'000;  // ten updates
  serving::WorkWindow work(config);
  work.join(ActorId{0}, {50, 32});
  const std::uint64_t rarely = refresh_lag(work, kLag);
  CHECK(rarely == 8);
  for (int i = 0; i < 100; ++i) {
    while (work.grant(TimePoint{})) {
    }
    work.arrived(ActorId{0}, 0, 1'600, TimePoint{});
    work.consumed(ActorId{0}, 1'600);
    work.adapt(true);
    const auto under_way = (work.window() + 1'999) / 2'000;
    // As much again is left for actors that take longer.
    CHECK(2 * refresh_lag(work, kLag) + under_way <= kLag);
    CHECK(refresh_lag(work, kLag) <= rarely);
  }
  CHECK(refresh_lag(work, 0) == 1);
  CHECK(refresh_lag(work, 1) == 1);
}

TEST_CASE("whatever the settings, a window comes of them", "[unit][learner]") {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  UpdateSize update;
  update.batch_decisions = GENERATE_COPY(std::int64_t{1}, std::int64_t{7}, kMost);
  update.max_policy_lag = GENERATE_COPY(std::int64_t{0}, std::int64_t{1}, kMost);
  const auto work = wanted_work(update, {});
  CHECK(work.least >= 1);
  CHECK(work.least <= work.most);
  CHECK(work.small >= 1);
  CHECK_NOTHROW(serving::WorkWindow(work));
}

}  // namespace
}  // namespace pacml::learner

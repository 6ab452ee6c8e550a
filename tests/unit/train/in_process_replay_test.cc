#include "apps/roles/in_process_replay.h"

#include <chrono>

#include "common/clock.h"
#include "common/result.h"
#include "model/initialise.h"
#include "model/network_config.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

model::Parameters first_weights(const TrainConfig& config) {
  const auto task = config.env.make();
  return model::initialise(model::make_shape(config.network, task->spec()), Seed{1});
}

TEST_CASE("what a run in one process learns from does not depend on how fast it acts",
          "[unit][train]") {
  const TrainConfig config = testing::tiny_apex_config();
  InProcessReplay replay(config);
  replay.publish(first_weights(config));
  // Far less time than it takes to fill the table.
  const auto drawn = replay.next({}, Deadline::in(std::chrono::milliseconds(0)));
  REQUIRE(drawn);
  CHECK(drawn->probabilities.size() == static_cast<std::size_t>(config.apex.batch_size));
  CHECK(replay.take_news().inserted >= config.replay.table.min_size);
}

TEST_CASE("a run in one process explores by the whole ladder, whatever actors it has elsewhere",
          "[unit][train]") {
  const auto drawn_with = [](std::int64_t actors) {
    TrainConfig config = testing::tiny_apex_config();
    config.actors = actors;
    config.exploration.exponent = 7;
    InProcessReplay replay(config);
    replay.publish(first_weights(config));
    const auto drawn = replay.next({}, Deadline::never());
    REQUIRE(drawn);
    return drawn->probabilities;
  };
  CHECK(drawn_with(4) == drawn_with(1));
}

TEST_CASE("a run in one process that has much to act sees to other things meanwhile",
          "[unit][train]") {
  TrainConfig config = testing::tiny_apex_config();
  config.replay.table.min_size = 3'000;
  InProcessReplay replay(config);
  replay.publish(first_weights(config));
  const auto hour = Deadline::in(std::chrono::hours(1));
  const auto first = replay.next({}, hour);
  REQUIRE_FALSE(first);
  CHECK(first.error().code == Errc::kTimeout);
  for (int calls = 0; calls < 10; ++calls) {
    if (replay.next({}, hour)) return;
  }
  FAIL("the table is never full");
}

TEST_CASE("a run in one process stops when it is told to", "[unit][train]") {
  const TrainConfig config = testing::tiny_apex_config();
  InProcessReplay replay(config);
  replay.publish(first_weights(config));
  std::stop_source stop;
  stop.request_stop();
  const auto drawn = replay.next(stop.get_token(), Deadline::in(std::chrono::hours(1)));
  REQUIRE_FALSE(drawn);
  CHECK(drawn.error().code == Errc::kStopped);
}

}  // namespace
}  // namespace pacml::apps

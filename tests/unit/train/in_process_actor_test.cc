#include "apps/roles/in_process_actor.h"

#include <chrono>
#include <stop_token>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"
#include "model/initialise.h"
#include "model/network_config.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

class Acting {
 public:
  Acting() : actor_(config_) {
    const auto task = config_.env.make();
    actor_.publish(model::initialise(model::make_shape(config_.network, task->spec()), Seed{1}));
  }
  Result<learner::ReceivedSequences> next(const std::stop_token& stop = {}) {
    return actor_.next(stop, Deadline::in(std::chrono::hours(1)));
  }

 private:
  TrainConfig config_ = testing::tiny_config();
  InProcessActor actor_;
};

TEST_CASE("an actor in its learner's process stops when it is told to", "[unit][train]") {
  Acting acting;
  std::stop_source stop;
  CHECK(acting.next(stop.get_token()));
  stop.request_stop();
  const auto received = acting.next(stop.get_token());
  REQUIRE_FALSE(received);
  CHECK(received.error().code == Errc::kStopped);
}

}  // namespace
}  // namespace pacml::apps

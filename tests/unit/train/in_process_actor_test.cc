#include "apps/roles/in_process_actor.h"

#include <chrono>

#include "common/clock.h"
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

TEST_CASE("an actor in its learner's process lets it see to other things now and then",
          "[unit][train]") {
  Acting acting;
  int messages = 0;
  while (messages < 100) {
    const auto received = acting.next();
    if (!received) {
      CHECK(received.error().code == Errc::kTimeout);
      break;
    }
    CHECK(received->sequences.num_decisions() > 0);
    ++messages;
  }
  CHECK(messages > 0);
  CHECK(messages < 100);
  CHECK(acting.next());  // and goes on
}

TEST_CASE("an actor in its learner's process stops when it is told to", "[unit][train]") {
  Acting acting;
  std::stop_source stop;
  stop.request_stop();
  const auto received = acting.next(stop.get_token());
  REQUIRE_FALSE(received);
  CHECK(received.error().code == Errc::kStopped);
}

}  // namespace
}  // namespace pacml::apps

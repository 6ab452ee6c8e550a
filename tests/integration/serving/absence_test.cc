// A learner that was suspended: who said something meanwhile is heard before anybody is forgotten.

#include <chrono>

#include "tests/support/catch.h"
#include "tests/support/let_pass.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a learner that was away for long gives its actors the time to speak before it forgets",
          "[integration][serving]") {
  ManualClock clock;
  ServedLearner<InProcessPair> learner({.work = {.messages_per_actor = 2}, .silence = 10s},
                                       sample_run(), clock);
  const auto actors = [&] { return learner.server().counters().actors; };
  let_pass(1s, clock, learner.server().board());
  auto silent = learner.raw_peer();
  auto speaks = learner.raw_peer();
  silent.say(sample_hello(0));
  REQUIRE(silent.hear<wire::Welcome>().credits > 0);  // it is its turn to speak
  speaks.say(sample_hello(1));
  REQUIRE(speaks.hear<wire::Welcome>().credits > 0);
  let_pass(60s, clock, learner.server().board());
  REQUIRE(actors() == 2);
  speaks.say(wire::Ping{1});
  CHECK(speaks.hear<wire::Pong>().nonce == 1);
  for (int second = 1; second < 10; ++second) {
    let_pass(1s, clock, learner.server().board());
    REQUIRE(actors() == 2);
  }
  let_pass(1s, clock, learner.server().board());
  CHECK(actors() == 1);
  speaks.say(wire::Ping{2});
  CHECK(speaks.hear<wire::Pong>().nonce == 2);
}

}  // namespace
}  // namespace pacml::testing

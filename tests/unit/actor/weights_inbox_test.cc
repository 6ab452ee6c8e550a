#include "actor/weights_inbox.h"

#include <memory>

#include "actor/learner_link.h"
#include "tests/support/catch.h"
#include "tests/unit/actor/scripted_server.h"

namespace pacml::actor {
namespace {

using namespace std::chrono_literals;
using testing::ScriptedServer;
using testing::Stage;

TEST_CASE("weights whose answer was lost are asked for again after a time, not after messages",
          "[unit][actor]") {
  const LinkConfig config{.weights_lost = 2s};
  Stage stage;
  ScriptedServer learner(stage);
  const auto client = learner.connect();
  const auto announcements = learner.subscribe();
  LearnerLink link(*client, *announcements, {}, {}, config, stage.clock());
  learner.publish(1);
  REQUIRE(link.first_parameters({}));
  learner.publish(3);  // older by two of five versions
  learner.lose_answers(1);
  const TimePoint begun = stage.clock().now();
  int looks = 0;
  auto newer = link.newest_parameters();
  for (; !newer && looks < 10'000; ++looks) {
    stage.pass();
    newer = link.newest_parameters();
  }
  REQUIRE(newer);
  CHECK(newer->version == PolicyVersion{3});
  const Duration waited = stage.clock().now() - begun;
  CHECK(waited >= config.weights_lost);
  CHECK(waited < config.weights_lost + 100ms);
  CHECK(looks > 64);
}

TEST_CASE("an actor that looks for weights rarely asks again as soon as it looks",
          "[unit][actor]") {
  Stage stage;
  ScriptedServer learner(stage);
  const auto client = learner.connect();
  const auto announcements = learner.subscribe();
  LearnerLink link(*client, *announcements, {}, {}, {.weights_lost = 2s}, stage.clock());
  learner.publish(1);
  REQUIRE(link.first_parameters({}));
  learner.publish(3);  // older by two of five versions
  learner.lose_answers(1);
  CHECK_FALSE(link.newest_parameters());
  for (int i = 0; i < 201; ++i) stage.pass();
  CHECK(link.newest_parameters());
}

TEST_CASE("a learner that goes on from older weights is followed, and not asked without end",
          "[unit][actor]") {
  Stage stage;
  ScriptedServer learner(stage);
  const auto client = learner.connect();
  const auto announcements = learner.subscribe();
  LearnerLink link(*client, *announcements, {}, {}, {}, stage.clock());
  learner.publish(9);
  REQUIRE(link.first_parameters({}));
  learner.go_back(4);
  const auto older = link.newest_parameters();
  REQUIRE(older);
  CHECK(older->version == PolicyVersion{4});
  const std::size_t asked = learner.asked_for_weights();
  for (int look = 0; look < 5; ++look) CHECK_FALSE(link.newest_parameters());
  CHECK(learner.asked_for_weights() == asked);
  // What was announced before, and is heard late, costs a question.
  learner.announce(9);
  for (int look = 0; look < 5; ++look) CHECK_FALSE(link.newest_parameters());
  CHECK(learner.asked_for_weights() == asked + 1);
  learner.publish(6);
  const auto newer = link.newest_parameters();
  REQUIRE(newer);
  CHECK(newer->version == PolicyVersion{6});
}

}  // namespace
}  // namespace pacml::actor

// Learner and actors as processes that are started and stopped by hand, over tcp.

#include "tests/support/roles.h"

#include <memory>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"

namespace pacml {
namespace {

using testing::actor_words;
using testing::Learner;
using testing::Pacml;
using testing::wait_until;
using testing::Workplace;

void wait_for_actors(const Workplace& place, std::int64_t count) {
  wait_until(std::to_string(count) + " actors are there",
             [&] { return place.latest("actors") == count; });
}

TEST_CASE("actors join and leave a learner at any time", "[integration][train]") {
  const Workplace place;
  Learner learner(place);
  auto first = std::make_unique<Pacml>(actor_words(place, learner.address(), 0));
  Pacml second(actor_words(place, learner.address(), 1, {"--run-id", "run"}));
  wait_for_actors(place, 2);
  place.wait_for_decisions(2'000);

  first->signal(SIGTERM);
  CHECK(first->end() == 0);
  CHECK_THAT(first->err(), Catch::Contains("joined run run"));
  wait_for_actors(place, 1);
  place.wait_for_decisions(place.latest("decisions") + 2'000);

  Pacml third(actor_words(place, learner.address(), 2));
  wait_for_actors(place, 2);
  place.wait_for_decisions(place.latest("decisions") + 2'000);

  const auto last = place.metrics().back();
  CHECK(last["gaps"] == 0);
  CHECK(last["duplicates"] == 0);
  CHECK(last["refused"] == 0);

  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
  CHECK(place.checkpoints().back() > "checkpoint-000000000000.safetensors");
  // A learner that stops in order sends its actors home.
  for (Pacml* actor : {&second, &third}) {
    CHECK(actor->end() == 0);
    CHECK_THAT(actor->err(), Catch::Contains("the learner stops"));
  }
}

TEST_CASE("an actor that is there first waits for its learner, and may be stopped meanwhile",
          "[integration][train]") {
  const Workplace place;
  Pacml patient(actor_words(place, place.socket(), 0));
  Pacml stopped(actor_words(place, place.socket(), 1));
  Learner learner(place, place.socket());
  place.wait_for_decisions(800);
  wait_for_actors(place, 2);
  stopped.signal(SIGTERM);
  CHECK(stopped.end() == 0);
  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
  CHECK(patient.end() == 0);

  Pacml alone(actor_words(place, place.socket(), 0));
  alone.signal(SIGINT);
  alone.end();  // by our signal or by the default one: it may not have begun to listen
  CHECK_THAT(alone.err(), !Catch::Contains("unexpected failure"));
}

TEST_CASE("of two actors with one number, the first is sent away with a sentence",
          "[integration][train]") {
  const Workplace place;
  Learner learner(place);
  Pacml first(actor_words(place, learner.address(), 7));
  wait_for_actors(place, 1);
  Pacml second(actor_words(place, learner.address(), 7));
  CHECK(first.end() == 2);
  CHECK_THAT(first.err(), Catch::Contains("pacml: a newer incarnation of this actor is here"));
  place.wait_for_decisions(place.latest("decisions") + 2'000);
  CHECK(second.runs());
}

}  // namespace
}  // namespace pacml

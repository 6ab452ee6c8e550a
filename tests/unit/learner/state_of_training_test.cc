#include "learner/state_of_training.h"

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

Checkpoint of_today() {
  Checkpoint checkpoint;
  checkpoint.algorithm.vectors["parameters"] = {1, 2};
  checkpoint.algorithm.reals = {{"run.share", 0.25}, {"run.decisions", 100}};
  checkpoint.algorithm.counts["decisions"] = 700;
  return checkpoint;
}

// Of a time when states did not say where in its run training was.
Checkpoint of_old() {
  Checkpoint checkpoint = of_today();
  checkpoint.algorithm.reals.clear();
  return checkpoint;
}

TEST_CASE("a state says how far its training is, and goes on as it is", "[unit][learner]") {
  const Checkpoint checkpoint = of_today();
  CHECK(state_to_resume(checkpoint) == checkpoint.algorithm);
  const auto progress = progress_of(checkpoint);
  REQUIRE(progress);
  CHECK(progress->decisions == 700);
  CHECK(progress->run.share == 0.25);
  CHECK(progress->run.decisions == 100);
}

TEST_CASE("a state that does not say its place in the run has it by the checkpoint's counters",
          "[unit][learner]") {
  Checkpoint checkpoint = of_old();
  RunPosition place{0, 700};  // schedules followed the decisions
  SECTION("without an end") {}
  SECTION("with one") {
    checkpoint.counters["millionths_of_run"] = 500'000;
    place = {0.5, 0};
  }
  const auto progress = progress_of(checkpoint);
  REQUIRE(progress);
  CHECK(progress->decisions == 700);
  CHECK(progress->run.share == place.share);
  CHECK(progress->run.decisions == place.decisions);
  const AlgorithmState resumed = state_to_resume(checkpoint);
  CHECK(resumed.reals.at("run.share") == place.share);
  CHECK(resumed.reals.at("run.decisions") == place.decisions);
  CHECK(resumed.vectors == checkpoint.algorithm.vectors);
}

TEST_CASE("a state that counts no decisions says nothing of progress", "[unit][learner]") {
  Checkpoint checkpoint = of_old();
  checkpoint.algorithm.counts.clear();
  CHECK_FALSE(progress_of(checkpoint));
  CHECK(state_to_resume(checkpoint).reals.at("run.decisions") == 0);
}

TEST_CASE("a state's weights are found, and missed", "[unit][learner]") {
  AlgorithmState state = of_today().algorithm;
  REQUIRE(parameters_of(state) != nullptr);
  CHECK(*parameters_of(state) == std::vector<float>{1, 2});
  state.vectors.clear();
  CHECK(parameters_of(state) == nullptr);
}

}  // namespace
}  // namespace pacml::learner

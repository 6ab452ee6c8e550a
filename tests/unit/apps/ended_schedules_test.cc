#include "apps/run/ended_schedules.h"

#include <string>

#include "learner/checkpoint.h"
#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/random_run.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

using learner::LearningProgress;
using learner::ScheduleKind;
using learner::ScheduleSpan;

TrainConfig annealed() {
  TrainConfig config = testing::tiny_config();
  config.impala.learning_rate = {
      .kind = ScheduleKind::kLinear, .start = 1e-3, .end = 5e-5, .over = ScheduleSpan::kRun};
  config.impala.entropy_cost = {
      .kind = ScheduleKind::kLinear, .start = 0.02, .end = 5e-4, .decisions = 1'000};
  config.ppo.learning_rate = config.impala.learning_rate;  // of another algorithm
  return config;
}

const std::string kBegin = "schedules of the run are at their end and stay there: ";

TEST_CASE("schedules that a run has behind it are told in one line") {
  CHECK(ended_schedules(annealed(), {2'000, {1, 0}}, {}) ==
        kBegin +
            "impala.entropy_cost at 0.0005, impala.learning_rate at 5e-05; --set "
            "impala.learning_rate.end=X goes on at X, a run of another name begins anew");
  CHECK(ended_schedules(annealed(), {900, {1, 0}}, {}) ==
        kBegin +
            "impala.learning_rate at 5e-05; --set impala.learning_rate.end=X goes on at X, a run "
            "of another name begins anew");
  CHECK(ended_schedules(annealed(), {900, {0.99, 0}}, {}).empty());
}

TEST_CASE("a schedule that is set anew, or never changes, is not told of") {
  TrainConfig config = annealed();
  const LearningProgress end{2'000, {1, 0}};
  CHECK_THAT(
      ended_schedules(config, end, {"impala.entropy_cost.end: 0.0005 from now on, 0 before"}),
      !Catch::Contains("entropy_cost"));
  // Where it began says nothing any more.
  CHECK_THAT(
      ended_schedules(config, end, {"impala.entropy_cost.start: 0.03 from now on, 0.02 before"}),
      Catch::Contains("entropy_cost"));
  config.impala.entropy_cost.end = config.impala.entropy_cost.start;
  config.impala.learning_rate.kind = ScheduleKind::kConstant;
  CHECK(ended_schedules(config, end, {}).empty());
}

TEST_CASE("how far a run had come is in its newest checkpoint, if it says so") {
  const testing::TempDir place;
  const TrainConfig config = annealed();
  const env::TaskPtr task = config.env.make();
  testing::write_random_run(place / "run", config, 3);
  const RunDirectory run = RunDirectory::open(place / "run");
  CHECK_FALSE(progress_in(run, config, task->spec()));

  const auto layout = model::make_layout(testing::shape_of(config));
  learner::CheckpointFolder folder(run.checkpoints(), 3);
  learner::Checkpoint checkpoint = learner::load_newest(folder, layout).checkpoint;
  checkpoint.algorithm.reals = {{"run.share", 0.5}, {"run.decisions", 20}};
  checkpoint.algorithm.counts["decisions"] = 700;
  checkpoint.counters["updates"] = 4;
  REQUIRE(folder.save(checkpoint, layout));
  const auto progress = progress_in(run, config, task->spec());
  REQUIRE(progress);
  CHECK(progress->decisions == 700);
  CHECK(progress->run.share == 0.5);
  CHECK(progress->run.decisions == 20);
}

}  // namespace
}  // namespace pacml::apps

#include "apps/run/progress_line.h"

#include <sstream>

#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::apps;
using namespace std::chrono_literals;

namespace {

TrainProgress sample() {
  TrainProgress p;
  p.elapsed = 83s;
  p.decisions = 3'210'000;
  p.decisions_per_second = 41'234;
  p.actors = 2;
  return p;
}

}  // namespace

TEST_CASE("progress says what is known and leaves out the rest") {
  TrainProgress p = sample();
  CHECK(format_progress(p) == "1:23 | 3.21 M decisions, 41.2 k/s | 2 actors");
  p.evaluating = true;
  CHECK(format_progress(p) ==
        "1:23 | 3.21 M decisions | scoring the policy on held-out episodes | 2 actors");
  p.evaluating = false;
  p.elapsed = 3723s;
  p.time_limit = 7200s;
  p.decision_limit = 10'000'000;
  p.actors = 1;
  p.evaluation.objective = "blocking_rate";
  p.lately = 0.2314;
  p.evaluation.best = 0.2189;
  p.entropy = 1.234;
  p.lag_p99 = 3;
  CHECK(format_progress(p) ==
        "1:02:03 of 2:00:00 | 3.21 M of 10.00 M decisions, 41.2 k/s | 1 actor | "
        "blocking_rate 0.231, best 0.219 | entropy 1.23 | lag p99 3");
  p.evaluation.baseline = "constant:4";
  p.evaluation.baseline_score = 0.25;
  CHECK_THAT(format_progress(p), Catch::Contains("best 0.219 (12 % better than constant:4) "));
  p.evaluation.higher_is_better = true;
  CHECK_THAT(format_progress(p), Catch::Contains("best 0.219 (12 % worse than constant:4) | "));
  p.evaluation.baseline_score = -0.5;
  p.evaluation.best = -0.25;
  CHECK_THAT(format_progress(p), Catch::Contains("best -0.250 (50 % better than constant:4)"));
  p.evaluation.higher_is_better = false;
  CHECK_THAT(format_progress(p), Catch::Contains("best -0.250 (50 % worse than constant:4)"));
  p.evaluation.best = p.evaluation.baseline_score;
  CHECK_THAT(format_progress(p), Catch::Contains("best -0.500 (no better than constant:4)"));
  p.evaluation.best = -0.25;
  p.evaluation.baseline_score = 0;
  CHECK_THAT(format_progress(p), Catch::Contains("best -0.250 | entropy"));
}

TEST_CASE("updates that were skipped are shown from the first one on") {
  TrainProgress progress = sample();
  CHECK(format_progress(progress).find("finite") == std::string::npos);
  progress.skipped = 3;
  CHECK(format_progress(progress).ends_with(" | 3 updates not finite"));
}

TEST_CASE("after a silence old figures are not repeated, and trouble is told") {
  TrainProgress p = sample();
  p.time_limit = 180s;
  p.evaluation.objective = "blocking_rate";
  p.lately = 0.25;
  p.silent = 20s;
  CHECK(format_progress(p) == "1:23 of 3:00 | 3.21 M decisions | no news for 20 s");
  p.trouble = "the run's folder is gone";
  CHECK(format_progress(p) ==
        "1:23 of 3:00 | 3.21 M decisions | no news for 20 s: the run's folder is gone");
  p.silent.reset();
  p.trouble = "cannot write x: No space left on device";
  CHECK_THAT(format_progress(p),
             Catch::EndsWith("blocking_rate 0.250 | cannot write x: No space left "
                             "on device"));
}

TEST_CASE("a warm start shows how far it is") {
  TrainProgress p;
  p.elapsed = 5s;
  p.warm_start = {12, 40, "episodes"};
  CHECK(format_progress(p) == "0:05 | warm start: 12 of 40 episodes");
}

TEST_CASE("without a terminal there is a line every ten seconds, and one at the end") {
  std::ostringstream out;
  ProgressLine line(out);
  const TimePoint start{};
  line.update(sample(), start);
  line.update(sample(), start + 9s);
  line.update(sample(), start + 10s);
  line.finish(sample());
  const std::string once = format_progress(sample()) + "\n";
  CHECK(out.str() == once + once + once);
}

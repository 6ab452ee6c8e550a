#include "apps/run/run_news.h"

#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
using namespace pacml::apps;
using namespace std::chrono_literals;

namespace {

// A run whose learner writes what a test wants.
class Told {
 public:
  Told() : news_(folder_.path(), 10s, start_) {}
  void write(const std::string& line) {
    std::ofstream(folder_ / "metrics.jsonl", std::ios::app) << line << "\n";
  }
  const TrainProgress& after(Duration time) {
    static_cast<void>(news_.look(start_ + time, progress_));
    return progress_;
  }
  [[nodiscard]] bool learned_nothing() const { return news_.learned_nothing(); }
  void lose_folder() { std::filesystem::remove_all(folder_.path()); }

 private:
  testing::TempDir folder_;
  const TimePoint start_{1000s};
  RunNews news_;
  TrainProgress progress_;
};

}  // namespace

TEST_CASE("news are the figures of the newest line") {
  Told run;
  run.write(R"({"decisions": 7, "decisions_per_second": 2.5, "actors": 3, "episode": {"cost": 0.5},
                "entropy": null})");
  run.write(
      R"({"decisions": 9, "decisions_per_second": 4.5, "actors": 2, "episode": {"cost": 0.25},)"
      R"( "evaluation": {"objective": "cost", "better": "higher", "best": 0.2,)"
      R"( "baseline": {"name": "a", "score": 3}},)"
      R"( "policy_lag": {"p99": 3}})");
  const TrainProgress& p = run.after(1s);
  CHECK(p.decisions == 9);
  CHECK(p.decisions_per_second == 4.5);
  CHECK(p.actors == 2);
  CHECK(p.evaluation.objective == "cost");
  CHECK(p.evaluation.higher_is_better);
  CHECK(p.lately == 0.25);
  CHECK(p.evaluation.best == 0.2);
  CHECK(p.evaluation.baseline == "a");
  CHECK(p.evaluation.baseline_score == 3);
  CHECK(p.lag_p99 == 3);
  CHECK_FALSE(p.entropy);
  CHECK_FALSE(p.silent);
}

TEST_CASE("a silence is told once it is long, and until there is news") {
  Told run;
  CHECK_FALSE(run.after(9s).silent);
  CHECK(run.after(10s).silent == 10s);
  CHECK(run.after(25s).silent == 25s);
  run.write(R"({"decisions": 1})");
  CHECK_FALSE(run.after(26s).silent);
  CHECK_FALSE(run.after(35s).silent);
  CHECK(run.after(37s).silent == 11s);
}

TEST_CASE("a folder that is gone explains a silence") {
  Told run;
  run.write(R"({"decisions": 1})");
  CHECK(run.after(1s).trouble.empty());
  run.lose_folder();
  CHECK(run.after(2s).trouble.empty());
  CHECK(run.after(20s).trouble == "the run's folder is gone");
}

TEST_CASE("what cannot be written is told while it goes on failing") {
  Told run;
  run.write(R"({"faults": {"checkpoint_failures": 0, "metrics_failures": 0, "last": ""}})");
  CHECK(run.after(1s).trouble.empty());
  run.write(R"({"faults": {"checkpoint_failures": 2, "metrics_failures": 0, "last": "no room"}})");
  CHECK(run.after(2s).trouble == "no room");
  run.write(R"({"faults": {"checkpoint_failures": 2, "metrics_failures": 0, "last": "no room"}})");
  CHECK(run.after(3s).trouble.empty());
}

TEST_CASE("a warm start is news of another kind") {
  Told run;
  run.write(R"({"decisions": 0, "warm_start": {"done": 3, "of": 40, "unit": "episodes"}})");
  CHECK(run.after(1s).warm_start == WarmStartProgress{3, 40, "episodes"});
  run.write(R"({"decisions": 400})");
  CHECK_FALSE(run.after(2s).warm_start);
}

TEST_CASE("any line is safe to find, and a file that begins anew is read from its beginning") {
  Told run;
  for (const char* line :
       {"nonsense", "[]", "3", R"({"decisions": null, "actors": "many", "faults": 7})",
        R"({"policy_lag": [], "evaluation": {"objective": "~/", "best": {}}, "warm_start": 1})"}) {
    run.write(line);
    CHECK_NOTHROW(run.after(1s));
  }
}

TEST_CASE("a run has learned nothing when figures say so from the first to the last") {
  Told run;
  static_cast<void>(run.after(1s));
  CHECK_FALSE(run.learned_nothing());                             // nobody has said anything
  run.write(R"({"decisions": 700, "decisions_per_second": 0})");  // of an earlier life
  static_cast<void>(run.after(2s));
  CHECK(run.learned_nothing());
  SECTION("until there is more") { run.write(R"({"decisions": 701, "decisions_per_second": 0})"); }
  SECTION("until more came in since a line that nobody has seen") {
    run.write(R"({"decisions": 700, "decisions_per_second": 5})");
  }
  static_cast<void>(run.after(3s));
  CHECK_FALSE(run.learned_nothing());
  run.write(R"({"decisions": 700, "decisions_per_second": 0})");  // a learner went back
  static_cast<void>(run.after(4s));
  CHECK_FALSE(run.learned_nothing());
}

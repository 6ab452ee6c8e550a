#include "env/ramp/cluster.h"

#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kSteps = 50;

// Model 0 takes 1 + 1 a training step, hence 100 in sequence; with degree 2 some 50. Model 1 takes
// twice as long.
std::vector<JobGraphPtr> graphs() {
  return {testing::make_graph(testing::single_op(1, 1, 1e9, 1e9, "hundred")),
          testing::make_graph(testing::single_op(2, 2, 1e9, 0, "two_hundred"))};
}

struct Fixture {
  explicit Fixture(std::vector<RecordedJob> jobs, ClusterConfig config = {},
                   ExecutionMemo::Setting setting = {})
      : cluster(std::make_shared<ExecutionMemo>(graphs(), setting), config, kSteps) {
    cluster.reset(JobStream::from_list(std::move(jobs), 2), true);
  }
  JobOutcome decide(int degree) { return cluster.decide({.degree = degree}, stats); }

  Cluster cluster;
  ClusterStepStats stats;
};

ExecutionMemo::Setting cluster_of(std::array<int, 3> topology, SemanticSwitches switches = {}) {
  ExecutionMemo::Setting setting;
  setting.ramp.topology = topology;
  setting.semantics = switches;
  return setting;
}

// A job of model 0 that may take as long as it likes.
RecordedJob job_after(double interarrival, int model = 0, double fraction = 1) {
  return {model, fraction, interarrival};
}

using Indices = std::vector<int>;

TEST_CASE("the first job waits from time 0", "[cluster]") {
  const Fixture f({{1, 0.75, 123}});
  REQUIRE(f.cluster.queued());
  const Job& job = *f.cluster.queued();
  CHECK(job.index == 0);
  CHECK(job.model == 1);
  CHECK(job.arrived == 0);
  CHECK(job.sequential_time == 200);
  CHECK(job.max_acceptable_time == 150);
  CHECK(f.cluster.now() == 0);
  CHECK(f.cluster.counters().arrived == 1);
  CHECK(f.cluster.mounted_workers() == 0);
}

TEST_CASE("a job runs for its completion time, then the next one arrives", "[cluster]") {
  Fixture f({job_after(0), job_after(1000), job_after(1000)});
  const JobOutcome decision = f.decide(1);
  CHECK(decision.cause == BlockCause::kNone);
  REQUIRE(decision.mounted);
  CHECK(decision.mounted->completion_time == 100);
  CHECK(decision.mounted->sequential_time == 100);
  CHECK(decision.mounted->communication_share == 0);
  CHECK(decision.mounted->computation_share == 1);
  CHECK(f.cluster.now() == 100);
  CHECK(f.stats.completed == Indices{0});
  CHECK(f.stats.jobs_arrived == 0);
  CHECK_FALSE(f.cluster.queued());
  CHECK_FALSE(f.cluster.finished());

  f.cluster.wait(f.stats);
  CHECK(f.cluster.now() == 1000);
  CHECK(f.stats.start_time == 100);
  CHECK(f.stats.jobs_arrived == 1);
  CHECK(f.stats.queue_length == 1);
  REQUIRE(f.cluster.queued());
  CHECK(f.cluster.queued()->index == 1);
  CHECK(f.cluster.queued()->arrived == 1000);
}

TEST_CASE("jobs run side by side on servers of their own", "[cluster]") {
  Fixture f({job_after(0), job_after(10), job_after(10)});
  static_cast<void>(f.decide(1));
  CHECK(f.cluster.now() == 10);
  CHECK(f.cluster.running().size() == 1);
  static_cast<void>(f.decide(2));
  CHECK(f.cluster.running().size() == 2);
  CHECK(f.cluster.running()[1].execution->placement == Placement{1, 9});
  CHECK(f.cluster.occupied().count() == 3);
  CHECK(f.cluster.running()[1].completion_time == Approx(50).epsilon(0.02));
}

TEST_CASE("a refused job is blocked and time goes on", "[cluster]") {
  Fixture f({job_after(0), job_after(1000)});
  const JobOutcome decision = f.decide(0);
  CHECK(decision.cause == BlockCause::kOpPartition);
  CHECK_FALSE(decision.mounted);
  CHECK(f.stats.blocked == Indices{0});
  CHECK(f.cluster.now() == 1000);
  CHECK(f.cluster.counters().blocked_by_cause[1] == 1);
}

TEST_CASE("a job that finds no servers is blocked for want of a place", "[cluster]") {
  Fixture f({job_after(0), job_after(10), job_after(10)}, {}, cluster_of({1, 1, 1}));
  CHECK(f.decide(1).cause == BlockCause::kNone);
  const JobOutcome decision = f.decide(1);
  CHECK(decision.cause == BlockCause::kOpPlacement);
  CHECK_FALSE(decision.mounted);
  CHECK(f.cluster.forecast({.degree = 1}).execution == nullptr);
}

TEST_CASE("a job that overflows a worker when mounted is blocked for want of a place",
          "[cluster]") {
  auto setting = cluster_of({1, 1, 1});
  setting.ramp.worker_memory = 3e9;  // a pass of model 0 takes 2e9, a pass of model 1 1e9
  Fixture f({job_after(0), job_after(10, 1)}, {}, setting);
  CHECK(f.cluster.forecast({.degree = 1}).execution == nullptr);
  CHECK(f.decide(1).cause == BlockCause::kOpPlacement);
  CHECK(f.decide(1).cause == BlockCause::kNone);
}

TEST_CASE("a job that would take too long is blocked and frees its servers", "[cluster]") {
  Fixture f({job_after(0, 0, 0.99), job_after(10)});
  const JobOutcome decision = f.decide(1);
  CHECK(decision.cause == BlockCause::kCompletionTime);
  REQUIRE(decision.mounted);
  CHECK(decision.mounted->completion_time == 100);
  CHECK(decision.mounted->max_acceptable_time == 99);
  CHECK(f.cluster.occupied().count() == 0);
  CHECK(f.cluster.running().empty());
}

TEST_CASE("a job that takes exactly its limit runs", "[cluster]") {
  Fixture f({job_after(0, 0, 1.0)});
  CHECK(f.decide(1).cause == BlockCause::kNone);
}

TEST_CASE("a limit may be met up to rounding when asked for", "[cluster]") {
  const auto cause = [](double fraction, bool tolerant) {
    Fixture f({job_after(0, 0, fraction)}, {}, cluster_of({4, 4, 2}, {.tolerant_limit = tolerant}));
    return f.decide(1).cause;
  };
  constexpr double kHairBelow = 1 - 1e-12;
  CHECK(cause(kHairBelow, false) == BlockCause::kCompletionTime);
  CHECK(cause(kHairBelow, true) == BlockCause::kNone);
  CHECK(cause(1 - 1e-6, true) == BlockCause::kCompletionTime);
}

TEST_CASE("completions and arrivals up to the clock's tolerance apart fall together", "[cluster]") {
  Fixture together({job_after(0), job_after(100 - 5e-8)});
  static_cast<void>(together.decide(1));
  CHECK(together.stats.completed == Indices{0});
  CHECK(together.stats.jobs_arrived == 1);
  Fixture apart({job_after(0), job_after(100 - 5e-7)});
  static_cast<void>(apart.decide(1));
  CHECK(apart.stats.completed.empty());
  CHECK(apart.stats.jobs_arrived == 1);
}

TEST_CASE("an early arrival does not shift the ones after it", "[cluster]") {
  // Job 1 arrives with job 0's completion at 100, 5e-8 early; job 2 is due 1000 after job 1 was
  // due.
  Fixture f({job_after(0), job_after(100 + 5e-8), job_after(1000)});
  static_cast<void>(f.decide(1));
  REQUIRE(f.cluster.queued());
  CHECK(f.cluster.queued()->arrived == 100);
  static_cast<void>(f.decide(0));
  CHECK(f.cluster.queued()->arrived == 100 + 5e-8 + 1000);
}

TEST_CASE("jobs that still run at the end are blocked, as published", "[cluster]") {
  ClusterConfig config;
  config.max_simulation_time = 50;
  Fixture f({job_after(0), job_after(10), job_after(1000)}, config);
  CHECK(f.decide(1).cause == BlockCause::kNone);
  const JobOutcome last = f.decide(1);
  // The episode ended in the cluster step of this decision.
  CHECK(last.cause == BlockCause::kSimulationEnded);
  CHECK(last.mounted);
  CHECK(f.cluster.finished());
  CHECK(f.cluster.now() == 50);
  CHECK(f.stats.blocked == Indices{0, 1});
  const auto& c = f.cluster.counters();
  CHECK(c.arrived == 2);
  CHECK(c.blocked == 2);
  CHECK(c.completed == 0);
  CHECK(c.blocked_by_cause[static_cast<std::size_t>(BlockCause::kSimulationEnded)] == 2);
  CHECK(f.cluster.occupied().count() == 0);
  CHECK(f.cluster.log().blocked.size() == 2);
}

TEST_CASE("jobs that still run at the end can be left out of the count", "[cluster]") {
  ClusterConfig config;
  config.max_simulation_time = 50;
  Fixture f({job_after(0), job_after(1000)}, config,
            cluster_of({4, 4, 2}, {.running_at_end_is_not_blocked = true}));
  CHECK(f.decide(1).cause == BlockCause::kNone);
  CHECK(f.cluster.finished());
  CHECK(f.cluster.counters().blocked == 0);
  CHECK(f.cluster.counters().completed == 0);
}

TEST_CASE("a job that arrives with the end counts as arrived, and as nothing else", "[cluster]") {
  ClusterConfig config;
  config.max_simulation_time = 1000;
  Fixture f({job_after(0), job_after(1000), job_after(1000)}, config);
  static_cast<void>(f.decide(1));
  f.cluster.wait(f.stats);
  CHECK(f.cluster.finished());
  CHECK(f.cluster.queued());
  const auto& c = f.cluster.counters();
  CHECK(c.arrived == 2);
  CHECK(c.completed == 1);
  CHECK(c.blocked == 0);
}

TEST_CASE("an episode ends when the last job of the list is gone", "[cluster]") {
  Fixture f({job_after(0), job_after(10)});
  static_cast<void>(f.decide(1));
  static_cast<void>(f.decide(1));
  CHECK(f.cluster.now() == 100);
  CHECK_FALSE(f.cluster.finished());
  f.cluster.wait(f.stats);
  CHECK(f.cluster.now() == 110);
  CHECK(f.cluster.finished());
  CHECK(f.cluster.counters().completed == 2);
}

TEST_CASE("when the last job is refused time runs out, if there is an end to it", "[cluster]") {
  ClusterConfig config;
  config.max_simulation_time = 5000;
  Fixture limited({job_after(0)}, config);
  static_cast<void>(limited.decide(0));
  CHECK(limited.cluster.finished());
  CHECK(limited.cluster.now() == 5000);

  config.max_simulation_time = kNever;
  Fixture endless({job_after(0)}, config);
  static_cast<void>(endless.decide(0));
  CHECK(endless.cluster.finished());
  CHECK(endless.cluster.now() == 0);
}

TEST_CASE("time goes on where the clock is coarser than its tolerance", "[cluster]") {
  // At 2^35 neighbouring times are 2^-17 apart. A job of 32 + 2^-19 ends at 32 by the clock, with
  // 2^-19 left: more than the tolerance, and too short to move the clock any further.
  ClusterConfig config;
  config.max_simulation_time = kNever;
  ExecutionMemo::Setting setting;
  setting.time_scale = (32 + 0x1p-19) / 100;
  Fixture f({job_after(0), job_after(0x1p35), job_after(10)}, config, setting);
  for (int job = 0; job < 3; ++job) {
    static_cast<void>(f.decide(1));
    while (!f.cluster.queued() && !f.cluster.finished()) f.cluster.wait(f.stats);
  }
  CHECK(f.cluster.finished());
  CHECK(f.cluster.counters().completed == 3);
  CHECK(f.cluster.now() == Approx(0x1p35 + 42).epsilon(1e-12));
}

TEST_CASE("occupancy is that of the last tick's start, or of now", "[cluster]") {
  // Job 0 completes in the same tick in which job 1 arrives.
  const auto occupied = [](bool fresh) {
    Fixture f({job_after(0), job_after(100), job_after(100)}, {},
              cluster_of({4, 4, 2}, {.fresh_occupancy = fresh}));
    static_cast<void>(f.decide(1));
    CHECK(f.cluster.queued());
    CHECK(f.cluster.occupied().count() == 0);
    return f.cluster.mounted_workers();
  };
  CHECK(occupied(false) == 1);
  CHECK(occupied(true) == 0);
}

TEST_CASE("channels in use are counted like workers", "[cluster]") {
  const auto channels = [](bool fresh) {
    Fixture f({job_after(0), job_after(10), job_after(10)}, {},
              cluster_of({4, 4, 2}, {.fresh_occupancy = fresh}));
    static_cast<void>(f.decide(2));
    return f.cluster.mounted_channels();
  };
  CHECK(channels(false) == 2);
  CHECK(channels(true) == 2);
}

TEST_CASE("what running jobs hold is weighted by the time that passes", "[cluster]") {
  Fixture f({job_after(0), job_after(25)});
  static_cast<void>(f.decide(1));
  // A quarter of job 0: 4e9 bytes of memory, one dependency of 2e9 bytes when placed, of 1e9
  // before.
  const auto info = [&f](Info i) { return f.stats.info[static_cast<std::size_t>(i)]; };
  CHECK(info(Info::kCompute) == 0.25 * 4e9);
  CHECK(info(Info::kDep) == 0.25 * 2e9);
  CHECK(info(Info::kFlow) == 0);
  CHECK(info(Info::kCluster) == 0.25 * 6e9);
  CHECK(info(Info::kDemandCompute) == 0.25 * 4e9);
  CHECK(info(Info::kDemandDep) == 0.25 * 1e9);
  CHECK(info(Info::kDemandTotal) == 0.25 * 5e9);
  CHECK(f.stats.throughput[0] == 0.25 * 4e9 / 25);
  CHECK(f.stats.mean_jobs_running == 1);
  CHECK(f.stats.mean_mounted_workers == 1);
  CHECK(f.stats.mean_compute_overhead == 1);
  CHECK(f.stats.mean_communication_overhead == 0);
}

TEST_CASE("utilisation is divided by the training steps once too often, as published",
          "[cluster]") {
  const auto utilisation = [](bool all_steps) {
    Fixture f({job_after(0)}, {}, cluster_of({4, 4, 2}, {.utilisation_over_all_steps = all_steps}));
    return f.decide(1).mounted->utilisation;
  };
  CHECK(utilisation(false) == Approx(1.0 / kSteps));
  CHECK(utilisation(true) == Approx(1.0));
}

TEST_CASE("a step's figures are means over its ticks", "[cluster]") {
  // Job 1 completes at 60; job 0 runs on. One tick of 50 with two jobs, ended by the completion.
  Fixture f({job_after(0), job_after(10), job_after(1000)});
  static_cast<void>(f.decide(1));
  static_cast<void>(f.decide(2));
  CHECK(f.stats.mean_jobs_running == 2);
  CHECK(f.stats.mean_mounted_workers == 3);
  CHECK(f.stats.mean_mounted_channels == 2);
  CHECK(f.stats.completed == Indices{1});
  REQUIRE(f.stats.cluster_utilisation.size() == 1);
  CHECK(f.stats.cluster_utilisation[0] == Approx(3.0 / 32 * f.stats.mounted_utilisation[0]));
  f.cluster.wait(f.stats);
  CHECK(f.stats.mean_jobs_running == 1);
  CHECK(f.stats.completed == Indices{0});
}

TEST_CASE("the log tells what was completed and what was blocked", "[cluster]") {
  Fixture f({job_after(0), job_after(40, 1, 0.5), job_after(500)});
  static_cast<void>(f.decide(1));
  static_cast<void>(f.decide(0));
  const EpisodeLog& log = f.cluster.log();
  REQUIRE(log.completed.size() == 1);
  const CompletedJob& done = log.completed[0];
  CHECK(done.index == 0);
  CHECK(done.completion_time == 100);
  CHECK(done.speedup == 1);
  CHECK(done.degree == 1);
  CHECK(done.num_workers == 1);
  CHECK(done.total_memory == 4e9);
  CHECK(done.total_dependency_bytes == 2e9);
  CHECK(done.original_dependency_bytes == 1e9);
  CHECK(done.max_acceptable_time == 100);
  REQUIRE(log.blocked.size() == 1);
  CHECK(log.blocked[0].index == 1);
  CHECK(log.blocked[0].sequential_time == 200);
  CHECK(log.blocked[0].max_acceptable_time == 100);
  CHECK(log.blocked[0].fraction == 0.5);
  // Bytes that job 0 and job 1 bring until the next arrival.
  CHECK(log.load_rates == std::vector<double>{5e9 / 40, 3e9 / 500});
  CHECK(log.steps.size() == 2);
}

TEST_CASE("without a log only counters are kept", "[cluster]") {
  Fixture f({job_after(0), job_after(10)});
  f.cluster.reset(JobStream::from_list({job_after(0), job_after(10)}, 2), false);
  static_cast<void>(f.decide(1));
  static_cast<void>(f.decide(0));
  CHECK(f.cluster.log().steps.empty());
  CHECK(f.cluster.log().blocked.empty());
  CHECK(f.cluster.log().load_rates.empty());
  CHECK(f.cluster.counters().blocked == 1);
}

TEST_CASE("a copy has the same future and leaves the original alone", "[cluster]") {
  Fixture f({job_after(0), job_after(10), job_after(10), job_after(10)});
  static_cast<void>(f.decide(1));
  Cluster copy = f.cluster;
  ClusterStepStats stats;
  static_cast<void>(copy.decide({.degree = 4}, stats));
  static_cast<void>(copy.decide({.degree = 0}, stats));
  CHECK(f.cluster.now() == 10);
  CHECK(f.cluster.running().size() == 1);
  CHECK(f.cluster.counters().arrived == 2);
  static_cast<void>(f.decide(4));
  static_cast<void>(f.decide(0));
  CHECK(f.cluster.now() == copy.now());
  CHECK(f.cluster.queued()->index == copy.queued()->index);
  CHECK(f.cluster.occupied() == copy.occupied());
  CHECK(f.stats.info == stats.info);
}

TEST_CASE("a reset forgets the episode before", "[cluster]") {
  Fixture f({job_after(0), job_after(10)});
  static_cast<void>(f.decide(1));
  f.cluster.reset(JobStream::from_list({job_after(0, 1)}, 2), true);
  CHECK(f.cluster.now() == 0);
  CHECK(f.cluster.running().empty());
  CHECK(f.cluster.occupied().count() == 0);
  CHECK(f.cluster.mounted_workers() == 0);
  CHECK(f.cluster.counters().arrived == 1);
  CHECK(f.cluster.counters().completed == 0);
  CHECK(f.cluster.log().steps.empty());
}

// Job 0 runs on {0, 4} of a 2x2x2 cluster and completes; four small jobs then hold 0 to 3, so that
// job 5 gets {4, 5}, where collectives are free.
struct TwoPlacements : Fixture {
  explicit TwoPlacements(LookaheadCache cache)
      : Fixture(
            {job_after(0), job_after(200), job_after(1), job_after(1), job_after(1), job_after(1),
             job_after(1000)},
            [cache] {
              ClusterConfig config;
              config.lookahead_cache = cache;
              return config;
            }(),
            [] {
              auto setting = cluster_of({2, 2, 2});
              setting.ramp.total_node_bandwidth = 25e9;
              return setting;
            }()) {
    first = *decide(2).mounted;
    while (!cluster.queued()) cluster.wait(stats);
    for (int i = 0; i < 4; ++i) static_cast<void>(decide(1));
    const auto execution = cluster.forecast({.degree = 2}).execution;
    predicted = cluster.completion_time(*execution);
    second = *decide(2).mounted;
  }
  MountedJob first, second;
  double predicted = 0;
};

TEST_CASE("with the cache by placement every placement takes its own time", "[cluster]") {
  for (const auto cache : {LookaheadCache::kPlacement, LookaheadCache::kOff}) {
    const TwoPlacements t(cache);
    CHECK(t.first.execution->placement == Placement{0, 4});
    CHECK(t.second.execution->placement == Placement{4, 5});
    CHECK(t.first.completion_time > 50.01);
    CHECK(t.second.completion_time == 50);
    CHECK(t.second.lookahead_ran);
    CHECK(t.predicted == t.second.completion_time);
  }
}

TEST_CASE("with the cache by model and degree the first placement decides, as published",
          "[cluster]") {
  const TwoPlacements t(LookaheadCache::kModelDegree);
  CHECK(t.first.lookahead_ran);
  CHECK_FALSE(t.second.lookahead_ran);
  CHECK(t.second.completion_time == t.first.completion_time);
  // What a policy is told beforehand is what the decision finds.
  CHECK(t.predicted == t.second.completion_time);
}

TEST_CASE("the cache by model and degree is forgotten at a reset", "[cluster]") {
  ClusterConfig config;
  config.lookahead_cache = LookaheadCache::kModelDegree;
  Fixture f({job_after(0), job_after(10), job_after(10)}, config);
  CHECK(f.decide(2).mounted->lookahead_ran);
  CHECK_FALSE(f.decide(2).mounted->lookahead_ran);
  f.cluster.reset(JobStream::from_list({job_after(0)}, 2), true);
  CHECK(f.decide(2).mounted->lookahead_ran);
}

TEST_CASE("impossible episodes are refused with the key at fault", "[cluster]") {
  ClusterConfig c;
  CHECK(validate(c).empty());
  c.max_simulation_time = kNever;
  CHECK(validate(c).empty());
  c.max_simulation_time = 0;
  CHECK(validate(c) ==
        std::vector<std::string>{
            "max_simulation_time: must be > 0 and at most 1e15, or .inf: until no job is left"});
  for (const double absurd : {std::nan(""), -1.0, -kNever, 1e300}) {
    c.max_simulation_time = absurd;
    CHECK(validate(c).size() == 1);
  }
}

}  // namespace
}  // namespace pacml::env

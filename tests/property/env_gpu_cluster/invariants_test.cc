// What must hold of every schedule, whoever decides.

#include <algorithm>
#include <map>
#include <memory>

#include "env/gpu_cluster/gpu_cluster_metrics.h"
#include "env/gpu_cluster/gpu_cluster_simulator.h"
#include "tests/property/env_gpu_cluster/random_cluster.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

struct Schedule {
  explicit Schedule(const RandomCluster& drawn)
      : model(std::make_shared<const GpuClusterModel>(drawn.config, drawn.tables)),
        scheduler(make_rule_scheduler(drawn.rules)),
        simulator(model, std::make_shared<const GpuJobList>(*model, drawn.jobs),
                  scheduler->queue_order()) {
    simulator.state().record_to(&decisions);
  }
  GpuClusterModelPtr model;
  std::unique_ptr<GpuScheduler> scheduler;
  GpuClusterSimulator simulator;
  std::vector<GpuDecision> decisions;
};

// Who is on a GPU agrees with who says that it runs there, and with what is counted as idle.
void check_occupancy(const GpuClusterState& state) {
  const GpuTopology& t = state.topology();
  std::map<std::int32_t, int> jobs_on;
  for (const std::int32_t job : state.running()) {
    const GpuLayout& layout = state.layout(job);
    REQUIRE(layout.gpus.size() == static_cast<std::size_t>(state.jobs()[job].gpus));
    std::int32_t alone = 0;
    for (const std::int32_t g : layout.gpus) {
      ++jobs_on[g];
      REQUIRE((state.resident(g, 0) == job || state.resident(g, 1) == job));
      alone += state.resident(g, 1) < 0 ? 1 : 0;
    }
    REQUIRE(layout.alone == alone);
    // What the network takes it only loses where it is spread over servers more slowly.
    REQUIRE(state.progress(job).rate <= state.jobs()[job].best_rate * (1 + 1e-12));
  }
  std::int64_t idle = 0;
  for (std::int32_t s = 0; s < t.num_servers(); ++s) {
    std::int32_t here = 0;
    for (std::int32_t g = s * t.per_server(); g < (s + 1) * t.per_server(); ++g) {
      REQUIRE(jobs_on[g] <= state.model().config().share);
      REQUIRE(state.is_idle(g) == (jobs_on[g] == 0));
      here += jobs_on[g] == 0 ? 1 : 0;
    }
    REQUIRE(state.idle_in_server(s) == here);
    idle += here;
  }
  REQUIRE(state.free_servers(GpuClusterState::kWholeCluster).total() == idle);
}

TEST_CASE("GPUs, rates and times add up in every schedule", "[property][gpu_cluster]") {
  Rng rng(Seed{72});
  for (int round = 0; round < 400; ++round) {
    const RandomCluster drawn = draw_cluster(rng);
    CAPTURE(round);
    Schedule schedule(drawn);
    run_schedule(schedule.simulator, *schedule.scheduler, check_occupancy);
    const GpuClusterState& state = schedule.simulator.state();
    const GpuClusterMetrics metrics = gpu_cluster_metrics(state);
    // Whoever has a scheduler of its own, an agent without rounds, may be left waiting for ever.
    if (metrics.unfinished > 0) continue;
    double jct = 0;
    for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
      const GpuJobProgress& job = state.progress(static_cast<std::int32_t>(i));
      REQUIRE(job.start >= drawn.jobs[i].submit_s);
      REQUIRE(job.finish > job.start);
      jct += job.finish - drawn.jobs[i].submit_s;
    }
    REQUIRE(metrics.active_time == Approx(jct).epsilon(1e-9));
    double progress = 0;
    for (const double p : metrics.progress) progress += p;
    REQUIRE(progress == Approx(static_cast<double>(metrics.finished)).epsilon(1e-9));
    REQUIRE(metrics.utilisation <= 1 + 1e-9);
    REQUIRE(metrics.mean_slowdown >= 1 - 1e-9);
    REQUIRE(metrics.jain_users <= 1 + 1e-9);
  }
}

TEST_CASE("a copy goes on as the original does", "[property][gpu_cluster]") {
  Rng rng(Seed{73});
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    const RandomCluster drawn = draw_cluster(rng);
    CAPTURE(round);
    Schedule schedule(drawn);
    GpuClusterSimulator& original = schedule.simulator;
    for (std::uint64_t n = rng.below(20); n > 0 && original.next_instant(); --n) {
      schedule.scheduler->decide(original.state());
    }
    GpuClusterSimulator copy = original;
    copy.state().record_to(nullptr);
    run_schedule(original, *make_rule_scheduler(drawn.rules));
    const bool is_apart = original.state().now() > copy.state().now();
    run_schedule(copy, *make_rule_scheduler(drawn.rules));
    REQUIRE(copy.state().now() == original.state().now());
    REQUIRE(copy.state().active_job_s() == original.state().active_job_s());
    for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      REQUIRE(copy.state().progress(id).finish == original.state().progress(id).finish);
    }
    compared += is_apart ? 1 : 0;
  }
  CHECK(compared > 100);
}

TEST_CASE("what a placement is predicted to do is what it does", "[property][gpu_cluster]") {
  Rng rng(Seed{74});
  int predictions = 0;
  for (int round = 0; round < 300; ++round) {
    RandomCluster drawn = draw_cluster(rng);
    drawn.rules.preempt = false;
    drawn.rules.candidates.share = SharingRule::kAlways;
    drawn.rules.candidates.always_spread = true;
    CAPTURE(round);
    Schedule schedule(drawn);
    CandidateFinder finder(drawn.rules.candidates);
    GpuCandidates candidates;
    run_schedule(schedule.simulator, *schedule.scheduler, [&](const GpuClusterState& now) {
      for (int p = 0; p < drawn.config.partitions; ++p) {
        if (now.waiting(p).empty()) continue;
        const std::int32_t job = now.waiting(p).front().job;
        finder.find(now, job, p, candidates);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
          GpuClusterState copy = now;
          copy.record_to(nullptr);
          const auto gpus = finder.gpus(now, job, candidates, i);
          std::vector<DisturbedJob> disturbed;
          const double rate = copy.predict(job, gpus, disturbed);
          copy.place(job, gpus);
          REQUIRE(copy.progress(job).rate == rate);
          std::size_t next = 0;
          for (const std::int32_t other : now.running()) {
            const double before = now.progress(other).rate;
            const double after = copy.progress(other).rate;
            if (before == 0 || before == after) continue;
            REQUIRE(next < disturbed.size());
            REQUIRE(disturbed[next].job == other);
            REQUIRE(disturbed[next].before == before);
            REQUIRE(disturbed[next].after == after);
            ++next;
          }
          REQUIRE(next == disturbed.size());
          ++predictions;
        }
      }
    });
  }
  CHECK(predictions > 2'000);
}

}  // namespace
}  // namespace pacml::env

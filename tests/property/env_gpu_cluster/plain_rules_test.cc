// The simulator remembers sums, looks only at who is touched, and keeps indices of what is idle.
// Random clusters, jobs and rules are run by it and by the plain rules, which do none of that.

#include "tests/property/env_gpu_cluster/plain_rules.h"

#include <memory>

#include "env/gpu_cluster/gpu_cluster_simulator.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

void check_equal(const GpuDecision& a, const GpuDecision& b) {
  REQUIRE(a.time_s == b.time_s);
  REQUIRE(a.job == b.job);
  REQUIRE(a.kind == b.kind);
  REQUIRE(a.gpus == b.gpus);
  REQUIRE(a.rates == b.rates);
  REQUIRE(a.scheduler == b.scheduler);
  REQUIRE(a.action == b.action);
  REQUIRE(a.num_actions == b.num_actions);
  REQUIRE(a.preemptions == b.preemptions);
}

TEST_CASE("schedules are those of the plain rules, to the last bit", "[property][gpu_cluster]") {
  Rng rng(Seed{71});
  std::size_t placements = 0;
  for (int round = 0; round < 1500; ++round) {
    const RandomCluster drawn = draw_cluster(rng);
    CAPTURE(round, drawn.rules.order, drawn.rules.place, drawn.rules.preempt);
    const auto model = std::make_shared<const GpuClusterModel>(drawn.config, drawn.tables);
    const auto scheduler = make_rule_scheduler(drawn.rules);
    GpuClusterSimulator simulator(model, std::make_shared<const GpuJobList>(*model, drawn.jobs),
                                  scheduler->queue_order());
    std::vector<GpuDecision> decisions;
    simulator.state().record_to(&decisions);
    run_schedule(simulator, *scheduler);
    PlainCluster plain(drawn);
    plain.run();

    for (std::size_t i = 0; i < std::min(decisions.size(), plain.decisions().size()); ++i) {
      CAPTURE(i);
      check_equal(decisions[i], plain.decisions()[i]);
    }
    REQUIRE(decisions.size() == plain.decisions().size());
    for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
      const GpuJobProgress& job = simulator.state().progress(static_cast<std::int32_t>(i));
      REQUIRE(job.start == plain.jobs()[i].start);
      REQUIRE(job.finish == plain.jobs()[i].finish);
    }
    for (int p = 0; p < drawn.config.partitions; ++p) {
      REQUIRE(simulator.state().settled_progress(p) ==
              plain.progress()[static_cast<std::size_t>(p)]);
    }
    REQUIRE(simulator.state().busy_gpu_s() == plain.busy_gpu_s());
    REQUIRE(simulator.state().active_job_s() == plain.active_job_s());
    placements += static_cast<std::size_t>(simulator.state().num_placements());
  }
  CHECK(placements > 10'000);
}

}  // namespace
}  // namespace pacml::env

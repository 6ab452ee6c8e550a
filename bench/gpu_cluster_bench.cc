#include "bench/gpu_cluster_bench.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "env/gpu_cluster/generated_workload.h"
#include "env/gpu_cluster/gpu_cluster_simulator.h"
#include "env/gpu_cluster/gpu_rules.h"

namespace pacml::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Workload {
  env::GpuClusterModelPtr model;
  std::vector<env::GpuJobListPtr> lists;
};

Workload workload(const std::string& name, int lists) {
  const env::NamedGpuCluster named = env::named_gpu_cluster(name);
  Workload out;
  out.model = std::make_shared<const env::GpuClusterModel>(named.cluster, env::generated_speeds());
  for (int i = 0; i < lists; ++i) {
    out.lists.push_back(std::make_shared<const env::GpuJobList>(
        *out.model, env::generate_jobs(*out.model, named.jobs, Seed{static_cast<unsigned>(i)})));
  }
  return out;
}

struct Rates {
  double events = 0;  // a second
  double placements = 0;
};

// Every list `passes` times, by median over repetitions.
Rates measure(const Workload& workload, const env::GpuRulesConfig& rules, int passes,
              int repetitions) {
  std::vector<double> events;
  std::vector<double> placements;
  for (int r = 0; r <= repetitions; ++r) {
    std::int64_t num_events = 0;
    std::int64_t num_placements = 0;
    const auto start = Clock::now();
    for (int pass = 0; pass < passes; ++pass) {
      for (const env::GpuJobListPtr& jobs : workload.lists) {
        const auto scheduler = env::make_rule_scheduler(rules);
        env::GpuClusterSimulator simulator(workload.model, jobs, scheduler->queue_order());
        env::run_schedule(simulator, *scheduler);
        num_events += simulator.num_events();
        num_placements += simulator.state().num_placements();
        PACML_CHECK(simulator.num_events() == 2 * static_cast<std::int64_t>(jobs->size()),
                    "every job arrives and ends");
      }
    }
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (r == 0) continue;  // warms up
    events.push_back(static_cast<double>(num_events) / elapsed.count());
    placements.push_back(static_cast<double>(num_placements) / elapsed.count());
  }
  return {median_of(std::move(events)), median_of(std::move(placements))};
}

}  // namespace

Figures run_gpu_cluster_bench(int repetitions) {
  using enum env::PlacementRule;
  const env::GpuRulesConfig fifo;
  const env::GpuRulesConfig balancing{
      .place = kLeastLoaded, .strict = false, .window = 64, .candidates = {.spread = false}};
  const env::GpuRulesConfig careful{
      .order = env::ScheduleOrder::kSrtf,
      .place = kLeastInterference,
      .strict = false,
      .window = 32,
      .candidates = {.spread = false, .share = env::SharingRule::kFallback, .gain = 1.4}};
  const Workload small16 = workload("small16", 20);
  const Workload leaf128 = workload("leaf128", 4);
  const Workload leaf2048 = workload("leaf2048", 1);
  Figures figures;
  figures.emplace_back("small16_fifo_events_per_second",
                       measure(small16, fifo, 20, repetitions).events);
  figures.emplace_back("leaf128_load_balancing_events_per_second",
                       measure(leaf128, balancing, 10, repetitions).events);
  figures.emplace_back("leaf2048_load_balancing_events_per_second",
                       measure(leaf2048, balancing, 4, repetitions).events);
  figures.emplace_back("leaf128_least_interference_placements_per_second",
                       measure(leaf128, careful, 1, repetitions).placements);
  figures.emplace_back("leaf2048_least_interference_placements_per_second",
                       measure(leaf2048, careful, 1, repetitions).placements);
  return figures;
}

}  // namespace pacml::bench

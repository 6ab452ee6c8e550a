#include "bench/placement_bench.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/placement/families.h"
#include "env/placement/placement_heuristics.h"
#include "env/placement/placement_problem.h"
#include "env/placement/placement_simulator.h"

namespace pacml::bench {
namespace {

using Clock = std::chrono::steady_clock;

env::DeviceSetPtr placeto_devices(int count) {
  return std::make_shared<const env::DeviceSet>(env::DeviceSet::placeto(count));
}

// As fast and as well connected as the published ones.
env::DeviceSetPtr corrected_devices(int count) {
  env::DevicesConfig config;
  for (int d = 0; d < count; ++d) config.corrected.devices.push_back({.name = std::to_string(d)});
  config.corrected.local = {.gb_per_s = 7.6, .latency_us = 25, .shared = env::LinkSharing::kDevice};
  return std::make_shared<const env::DeviceSet>(config);
}

// Seconds of one run: `batches` times each of 100 random placements, median over repetitions.
double run_seconds(const env::OpGraphPtr& graph, const env::DeviceSetPtr& devices, bool with_memory,
                   int batches, int repetitions) {
  const env::PlacementProblem problem(graph, devices);
  const auto placements = env::random_placements(problem, 100, 7);
  env::PlacementSimulator simulator(graph, devices);
  std::vector<double> seconds;
  double sum = 0;  // keeps the work observable
  for (int r = 0; r <= repetitions; ++r) {
    const auto start = Clock::now();
    for (int batch = 0; batch < batches; ++batch) {
      for (const auto& placement : placements) {
        sum += simulator.run(placement);
        if (with_memory) sum += simulator.peak_bytes()[0];
      }
    }
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    seconds.push_back(sum > 0 ? elapsed.count() / (100.0 * batches) : 0);
  }
  seconds.erase(seconds.begin());
  return median_of(std::move(seconds));
}

// Of placements in which one group is moved to each other device, group after group: how many a
// second, going on from where each begins to matter, or whole.
double moves_per_second(const env::OpGraphPtr& graph, int devices, bool goes_on, int passes,
                        int repetitions) {
  const auto problem =
      std::make_shared<const env::PlacementProblem>(graph, placeto_devices(devices));
  const auto start = env::random_placements(*problem, 1, 7).front();
  env::PlacementEvaluator evaluator(problem);
  const double now_s = evaluator.runtime_s(start);
  std::vector<double> rates;
  double sum = 0;  // keeps the work observable
  for (int r = 0; r <= repetitions; ++r) {
    const std::int64_t before = evaluator.num_simulations();
    const auto begin = Clock::now();
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t group = 0; group < problem->num_groups(); ++group) {
        if (goes_on) {
          sum += evaluator.runtimes_if_moved(start, group, now_s).front();
          continue;
        }
        auto placement = start;
        for (std::int32_t d = 0; d < devices; ++d) {
          placement[group] = d;
          if (d != start[group]) sum += evaluator.runtime_s(placement);
        }
      }
    }
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    const auto runs = static_cast<double>(evaluator.num_simulations() - before);
    rates.push_back(sum > 0 ? runs / elapsed.count() : 0);
  }
  rates.erase(rates.begin());
  return median_of(std::move(rates));
}

void add_moves(const std::string& name, const env::OpGraphPtr& graph, int devices, int passes,
               int repetitions, Figures& figures) {
  const std::string prefix = name + "_on_" + std::to_string(devices) + "_moves";
  figures.emplace_back(prefix + "_per_second",
                       moves_per_second(graph, devices, true, passes, repetitions));
  figures.emplace_back(prefix + "_whole_per_second",
                       moves_per_second(graph, devices, false, passes, repetitions));
}

void add_family(const std::string& family, int devices, int repetitions, Figures& figures) {
  constexpr int kBatches = 200;
  const auto graph = std::make_shared<const env::OpGraph>(env::family_graph(family, 1000));
  const std::string name = family + "_1000_on_" + std::to_string(devices);
  const auto add = [&](const std::string& variant, const env::DeviceSetPtr& on, bool memory) {
    figures.emplace_back(name + variant + "_runs_per_second",
                         1 / run_seconds(graph, on, memory, kBatches, repetitions));
  };
  add("", placeto_devices(devices), false);
  add("_with_memory", placeto_devices(devices), true);
  add("_corrected", corrected_devices(devices), false);
  add("_corrected_with_memory", corrected_devices(devices), true);
}

}  // namespace

Figures run_placement_bench(int repetitions) {
  Figures figures;
  add_family("branch", 2, repetitions, figures);
  add_family("cell", 4, repetitions, figures);
  for (const int devices : {4, 8}) {
    add_moves("cell_1000", std::make_shared<const env::OpGraph>(env::family_graph("cell", 1000)),
              devices, 200, repetitions, figures);
    add_moves("chains_2002",
              std::make_shared<const env::OpGraph>(env::chain_graph(200, 10, 100, 7600)), devices,
              1, repetitions, figures);
  }
  const auto large = std::make_shared<const env::OpGraph>(env::chain_graph(200, 100, 100, 7600));
  figures.emplace_back("chains_20002_on_8_run_seconds",
                       run_seconds(large, placeto_devices(8), false, 1, 1));
  return figures;
}

}  // namespace pacml::bench

#include "bench/placement_bench.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/placement/families.h"
#include "env/placement/placement_heuristics.h"
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
  for (int d = 0; d < count; ++d) config.devices.push_back({.name = std::to_string(d)});
  config.local = {.gb_per_s = 7.6, .latency_us = 25, .shared = env::LinkSharing::kDevice};
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
  const auto large = std::make_shared<const env::OpGraph>(env::chain_graph(200, 100, 100, 7600));
  figures.emplace_back("chains_20002_on_8_run_seconds",
                       run_seconds(large, placeto_devices(8), false, 1, 1));
  return figures;
}

}  // namespace pacml::bench

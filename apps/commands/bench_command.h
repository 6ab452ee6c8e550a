#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/bench_report.h"
#include "apps/cli/command.h"

namespace pacml::apps {

struct BenchSettings {
  std::string config;       // file; empty: see TakesConfig
  std::string profiles;     // folder; empty: as the configuration says
  double seconds = 20;      // of a whole training run
  std::string keys;         // folder; not empty: the pipeline says what encryption costs
  bool watched = false;     // the pipeline says what it costs to be watched
  std::int64_t rounds = 5;  // of either of these
};

// Whether a benchmark measures what a configuration says.
enum class TakesConfig {
  kNever,    // what it measures is the same for every one
  kIfGiven,  // without one, something of its own, which reads no profiles
  kAlways,   // without one, the paper's setting A
};

// One benchmark: adds its figures to the report, under its name.
struct NamedBench {
  std::string name;
  std::function<void(const BenchSettings&, BenchReport&)> run;
  TakesConfig takes_config = TakesConfig::kAlways;
};

// `pacml bench` over a program's benchmarks. `math`: what the learner computes with, for the
// report.
[[nodiscard]] std::unique_ptr<Command> make_bench_command(std::vector<NamedBench> benches,
                                                          std::function<std::string()> math);

// Those of the main program; "learner" runs in the program that has LibTorch.
[[nodiscard]] std::vector<NamedBench> main_benches();

}  // namespace pacml::apps

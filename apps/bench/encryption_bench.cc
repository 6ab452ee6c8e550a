#include "apps/bench/encryption_bench.h"

#include "apps/bench/free_ports.h"
#include "apps/bench/paired_runs.h"
#include "apps/bench/pipeline_bench.h"

namespace pacml::apps {
namespace {

// The learner's two ports, and those of a few shards.
constexpr int kPorts = 6;

}  // namespace

bench::Figures run_encryption_bench(const std::vector<std::string>& train_arguments,
                                    const std::string& keys, double seconds, int rounds) {
  const auto run = [&](bool encrypted) {
    auto arguments = train_arguments;
    arguments.insert(arguments.end(),
                     {"--bind", "tcp://127.0.0.1:" + std::to_string(free_ports(kPorts))});
    if (encrypted) arguments.insert(arguments.end(), {"--keys", keys});
    return run_pipeline_bench(arguments, seconds);
  };
  auto figures = run_in_pairs({"clear", [&] { return run(false); }},
                              {"encrypted", [&] { return run(true); }}, rounds);
  const double clear = figure_of(figures, "clear_transport_cpu_seconds_per_decision");
  const double encrypted = figure_of(figures, "encrypted_transport_cpu_seconds_per_decision");
  figures.emplace_back("transport_overhead",
                       (encrypted - clear) / figure_of(figures, "clear_cpu_seconds_per_decision"));
  return figures;
}

}  // namespace pacml::apps

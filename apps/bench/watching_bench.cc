#include "apps/bench/watching_bench.h"

#include "apps/bench/free_ports.h"
#include "apps/bench/page_reader.h"
#include "apps/bench/paired_runs.h"
#include "apps/bench/pipeline_bench.h"

namespace pacml::apps {

bench::Figures run_watching_bench(const std::vector<std::string>& train_arguments, double seconds,
                                  int rounds) {
  double read = 0;
  double failed = 0;
  const auto alone = [&] {
    auto arguments = train_arguments;
    arguments.insert(arguments.end(), {"--set", "learner.tensorboard=false"});
    return run_pipeline_bench(arguments, seconds);
  };
  const auto watched = [&] {
    const int port = free_ports(1);
    auto arguments = train_arguments;
    arguments.insert(arguments.end(),
                     {"--http", std::to_string(port), "--set", "learner.tensorboard=true"});
    const PageReader reader(port);
    auto figures = run_pipeline_bench(arguments, seconds);
    read += static_cast<double>(reader.read());
    failed += static_cast<double>(reader.failed());
    return figures;
  };
  auto figures = run_in_pairs({"alone", alone}, {"watched", watched}, rounds);
  figures.emplace_back("pages_read", read);
  figures.emplace_back("pages_failed", failed);
  return figures;
}

}  // namespace pacml::apps

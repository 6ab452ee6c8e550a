// pacml-learner: the commands that need LibTorch. Users call them through pacml.

#include <iostream>
#include <memory>

#include "apps/bench/learning_bench.h"
#include "apps/cli/program.h"
#include "apps/cli/version.h"
#include "apps/commands/bench_command.h"
#include "apps/commands/export_command.h"
#include "apps/commands/learner_command.h"
#include "apps/commands/version_command.h"
#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "bench/learner_bench.h"
#include "learner/replicas/gloo_group.h"
#include "model/math_environment.h"
#include "model/torch_network.h"
#include "model/torch_runtime.h"

namespace {

using namespace pacml;

std::unique_ptr<model::TrainableNetwork> make_network(const model::NetworkShape& shape) {
  return std::make_unique<model::TorchNetwork>(shape);
}

void bench_learner(const apps::BenchSettings& settings, apps::BenchReport& report) {
  if (!settings.config.empty()) {
    const auto config = apps::load_train_config(settings.config, {}, settings.profiles);
    report.emplace_back("learner", apps::run_learning_bench(config, make_network));
    return;
  }
  report.emplace_back("learner", bench::run_learner_bench());
  report.emplace_back("apex", bench::run_apex_bench());
}

}  // namespace

int main(int argc, char** argv) {
  model::settle_math_environment(argv);
  apps::Program program{.name = "pacml",  // what users type
                        .summary = "the parts of pacml that need LibTorch",
                        .version = "pacml-learner " + apps::version(),
                        .commands = {},
                        .delegations = {},
                        .delegate = {},
                        .prepare = model::prepare_torch_runtime,
                        .refuse_output = apps::RunDirectory::refuse_own_file};
  program.commands.push_back(apps::make_learner_command(make_network, learner::connect_gloo));
  program.commands.push_back(apps::make_export_command());
  program.commands.push_back(apps::make_bench_command(
      {{"learner", bench_learner, apps::TakesConfig::kIfGiven}}, model::describe_torch_runtime));
  program.commands.push_back(apps::make_version_command([] {
    std::cout << model::describe_torch_runtime() << "\n";
    return 0;
  }));
  return apps::run_program(program, {argv + 1, argv + argc}, std::cout, std::cerr);
}

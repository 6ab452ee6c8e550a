#include <filesystem>
#include <string>
#include <thread>

#include "apps/bench/encryption_bench.h"
#include "apps/bench/pipeline_bench.h"
#include "apps/bench/watching_bench.h"
#include "apps/cli/files.h"
#include "apps/cli/words.h"
#include "apps/commands/bench_command.h"
#include "apps/process/child_process.h"
#include "apps/process/hand_over.h"
#include "apps/process/last_error.h"
#include "apps/run/train_config.h"
#include "bench/acting_bench.h"
#include "bench/gpu_cluster_bench.h"
#include "bench/inference_bench.h"
#include "bench/placement_bench.h"
#include "bench/planning_bench.h"
#include "bench/replay_bench.h"
#include "bench/replay_service_bench.h"
#include "bench/simulator_bench.h"
#include "bench/transport_bench.h"
#include "common/exit_codes.h"
#include "common/private_folder.h"
#include "common/result.h"
#include "env/tasks/partitioning/config.h"
#include "model/math_environment.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

// The paper's setting A, which TrainConfig defaults to, with this lookahead cache.
TrainConfig config_of(const BenchSettings& settings,
                      env::LookaheadCache cache = env::LookaheadCache::kModelDegree) {
  if (!settings.config.empty()) return load_train_config(settings.config, {}, settings.profiles);
  TrainConfig config;
  config.env.as<env::PartitioningConfig>().cluster.lookahead_cache = cache;
  config.env.set_profiles(settings.profiles);
  return config;
}

void bench_simulator(const BenchSettings& settings, BenchReport& report) {
  report.emplace_back("simulator", bench::run_simulator_bench(config_of(settings).env, 200'000, 5));
}

void bench_lookahead(const BenchSettings& settings, BenchReport& report) {
  const env::TaskConfig task = config_of(settings).env;
  if (!task.is_of<env::PartitioningConfig>()) {
    throw UserError("bench lookahead: needs a configuration of the task partitioning");
  }
  report.emplace_back("lookahead",
                      bench::run_lookahead_bench(task.as<env::PartitioningConfig>(), 7));
}

void bench_placement(const BenchSettings& /*settings*/, BenchReport& report) {
  report.emplace_back("placement", bench::run_placement_bench(5));
}

void bench_gpu_cluster(const BenchSettings& /*settings*/, BenchReport& report) {
  report.emplace_back("gpu_cluster", bench::run_gpu_cluster_bench(5));
}

void bench_acting(const BenchSettings& settings, BenchReport& report) {
  const TrainConfig config = config_of(settings);
  report.emplace_back("acting",
                      bench::run_acting_bench(config.env, config.network, config.actor, 5));
}

void bench_planning(const BenchSettings& settings, BenchReport& report) {
  // With the published cache futures depend on the past, and are whole environments.
  const TrainConfig config = config_of(settings, env::LookaheadCache::kPlacement);
  if (!config.env.is_of<env::PartitioningConfig>()) {
    throw UserError("bench planning: needs a configuration of the task partitioning");
  }
  report.emplace_back("planning",
                      bench::run_planning_bench(config.env, config.network, "min_feasible", 8, 5));
}

void bench_inference(const BenchSettings& /*settings*/, BenchReport& report) {
  report.emplace_back("inference", bench::run_inference_bench());
}

void bench_transport(const BenchSettings& /*settings*/, BenchReport& report) {
  report.emplace_back("transport", bench::run_transport_bench());
}

void bench_replay(const BenchSettings& /*settings*/, BenchReport& report) {
  auto figures = bench::run_replay_bench();
  for (auto& [name, value] : bench::run_replay_service_bench()) {
    figures.emplace_back("service_" + name, value);
  }
  report.emplace_back("replay", std::move(figures));
}

// LibTorch is not linked here: the other program measures, and its report is taken over.
void bench_learner(const BenchSettings& settings, BenchReport& report) {
  const bool has_config = !settings.config.empty();
  if (has_config) static_cast<void>(config_of(settings));  // complains before anything is started
  const PrivateFolder scratch("pacml-bench");
  const fs::path out = scratch / "report.json";
  model::set_single_threaded_math();
  ChildSpec spec;
  spec.name = "bench learner";
  spec.command = {program_beside_us("pacml-learner").string(), "bench", "learner", "--out",
                  out.string()};
  if (has_config) append(spec.command, {"--config", settings.config});
  if (has_config && !settings.profiles.empty())
    append(spec.command, {"--profiles", settings.profiles});
  spec.log = scratch / "log";
  auto child = ChildProcess::spawn(spec);
  if (!child) throw UserError("the learner benchmark cannot start: " + child.error().detail);
  std::optional<ChildExit> exit;
  while (!(exit = child->poll())) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (!exit->clean()) {
    const std::string error = last_error(spec.log);
    if (exit->shell_code() == kExitUserMustMend && !error.empty()) throw UserError(error);
    throw UserError("the learner benchmark " + describe(*exit) + ": " + read_user_file(spec.log));
  }
  add_json_report(read_user_file(out), report);
}

void bench_pipeline(const BenchSettings& settings, BenchReport& report) {
  std::string config = settings.config;
  const PrivateFolder scratch("pacml-bench");
  const fs::path written = scratch / "config.yaml";
  if (config.empty()) {
    write_user_file(written, "env: {cluster: {lookahead_cache: model_degree}}\n");
    config = written.string();
  }
  std::vector<std::string> arguments = {config};
  if (!settings.profiles.empty()) {
    arguments.insert(arguments.end(), {"--profiles", settings.profiles});
  }
  if (settings.watched) {
    report.emplace_back("watching", run_watching_bench(arguments, settings.seconds,
                                                       static_cast<int>(settings.rounds)));
  } else if (settings.keys.empty()) {
    auto figures = run_pipeline_bench(arguments, settings.seconds);
    const auto simulator = bench::run_simulator_bench(config_of(settings).env, 200'000, 3);
    figures.emplace_back("simulator_only_decisions_per_second", simulator.front().second);
    report.emplace_back("pipeline", std::move(figures));
  } else {
    report.emplace_back("encryption",
                        run_encryption_bench(arguments, settings.keys, settings.seconds,
                                             static_cast<int>(settings.rounds)));
  }
}

}  // namespace

std::vector<NamedBench> main_benches() {
  return {{"simulator", bench_simulator},
          {"lookahead", bench_lookahead},
          {"placement", bench_placement, TakesConfig::kNever},
          {"gpu_cluster", bench_gpu_cluster, TakesConfig::kNever},
          {"acting", bench_acting},
          {"planning", bench_planning},
          {"inference", bench_inference, TakesConfig::kNever},
          {"transport", bench_transport, TakesConfig::kNever},
          {"replay", bench_replay, TakesConfig::kNever},
          {"learner", bench_learner, TakesConfig::kIfGiven},
          {"pipeline", bench_pipeline}};
}

}  // namespace pacml::apps

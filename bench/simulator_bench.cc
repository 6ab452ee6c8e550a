#include "bench/simulator_bench.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "common/experience/observations.h"
#include "common/rng.h"
#include "env/graph/profile_library.h"
#include "env/ramp/execution_memo.h"

namespace pacml::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Uniform over the valid actions but 0; 0 when there is no other.
int random_action(std::span<const std::uint8_t> mask, Rng& rng) {
  const auto valid = std::count(mask.begin() + 1, mask.end(), std::uint8_t{1});
  if (valid == 0) return 0;
  auto skip = static_cast<int>(rng.below(static_cast<std::uint64_t>(valid)));
  for (std::size_t a = 1;; ++a) {
    if (mask[a] != 0 && skip-- == 0) return static_cast<int>(a);
  }
}

// Decisions a second of each repetition, the first one included. `read` is shown every observation.
template <class Read>
std::vector<double> simulate(const env::Task& task, std::int64_t decisions, int repetitions,
                             Read read) {
  const auto environment = task.make_factory()();
  Observations batch = task.spec().make_observations();
  Rng rng(Seed{1});
  std::uint64_t episode = 0;
  environment->reset(derive(Seed{0}, Purpose::kEpisode, episode));
  std::vector<double> rates;
  for (int r = 0; r <= repetitions; ++r) {
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < decisions; ++i) {
      batch.clear();
      environment->observe(batch);
      read(batch);
      if (environment->step(random_action(batch.mask(0), rng)).final()) {
        environment->reset(derive(Seed{0}, Purpose::kEpisode, ++episode));
      }
    }
    rates.push_back(static_cast<double>(decisions) / seconds_since(start));
  }
  return rates;
}

// The same with all that a network would read of the candidates written.
Figures run_candidates_bench(const env::Task& task, std::int64_t decisions, int repetitions) {
  const env::CandidateView& view = *task.spec().candidate_view;
  const auto reader = view.make_reader();
  reader->set_graphs(task.spec().graphs);
  std::vector<float> rows(static_cast<std::size_t>(task.spec().num_actions()) * view.width());
  std::vector<float> situation(view.situation().size());
  std::int64_t candidates = 0;
  std::int64_t read = 0;
  auto rates = simulate(task, decisions, repetitions, [&](const Observations& batch) {
    candidates += static_cast<std::int64_t>(
        reader->read(batch, 0, rows.data(), view.width(), situation.data()));
    ++read;
  });
  rates.erase(rates.begin());
  return {{"decisions_with_candidates_per_second", median_of(rates)},
          {"candidates_per_decision", static_cast<double>(candidates) / static_cast<double>(read)}};
}

}  // namespace

Figures run_simulator_bench(const env::TaskConfig& config, std::int64_t decisions,
                            int repetitions) {
  const auto task = config.make();
  auto rates = simulate(*task, decisions, repetitions, [](const Observations&) {});
  const double first = rates.front();
  rates.erase(rates.begin());
  Figures figures = {{"decisions_per_second", median_of(rates)},
                     {"first_decisions_per_second", first}};
  if (task->spec().candidate_view) {
    const Figures more = run_candidates_bench(*task, decisions, repetitions);
    figures.insert(figures.end(), more.begin(), more.end());
  }
  return figures;
}

Figures run_lookahead_bench(const env::RampTaskConfig& config, int repetitions) {
  const auto profiles = env::load_profiles(config.profiles, config.workload.models);
  std::vector<env::JobGraphPtr> graphs;
  for (const auto& profile : profiles) {
    graphs.push_back(std::make_shared<const env::JobGraph>(profile));
  }
  env::ExecutionMemo memo(graphs, env::memo_setting(config, config.ramp.topology));
  const env::ServerSet nobody(memo.topology().num_servers());
  std::vector<int> degrees;
  for (const int degree : {1, 2, 4, 6, 8, 16}) {
    if (degree <= config.max_partitions_per_op) degrees.push_back(degree);
  }

  Figures figures;
  for (std::size_t model = 0; model < profiles.size(); ++model) {
    for (const int degree : degrees) {
      const auto execution = memo.place(static_cast<int>(model), degree, nobody);
      if (!execution) continue;
      const auto& job = *execution->job;
      std::vector<double> times;
      for (int r = 0; r < repetitions; ++r) {
        const auto start = Clock::now();
        const auto server = server_of_ops(job, execution->placement);
        const auto raw = raw_run_times(job, server, memo.topology(), memo.communication());
        const auto step = simulate_step(job, execution->placement, server, raw,
                                        memo.topology().num_servers(), memo.setting().semantics);
        times.push_back(seconds_since(start));
        if (step.ticks.empty()) times.back() = 0;  // keep the work observable
      }
      figures.emplace_back(profiles[model].model + "_" + std::to_string(degree) + "_seconds",
                           median_of(times));
    }
  }
  std::vector<double> tables;
  for (int r = 0; r < repetitions; ++r) {
    const auto start = Clock::now();
    env::ExecutionMemo cold(graphs, memo.setting());
    for (std::size_t model = 0; model < profiles.size(); ++model) {
      for (const int degree : degrees) {
        const auto execution = cold.place(static_cast<int>(model), degree, nobody);
        if (execution) static_cast<void>(cold.lookahead(*execution));
      }
    }
    tables.push_back(seconds_since(start));
  }
  figures.emplace_back("table_seconds", median_of(tables));
  return figures;
}

}  // namespace pacml::bench

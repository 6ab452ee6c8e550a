#include "bench/planning_bench.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "env/task.h"
#include "model/fused_policy.h"
#include "model/initialise.h"
#include "planning/search_agent.h"

namespace pacml::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Decides in one episode after the other.
class Searcher {
 public:
  Searcher(const env::Task& task, const planning::SearchConfig& config,
           std::unique_ptr<planning::RolloutPolicy> policy)
      : environment_(task.make_factory()()),
        horizon_(config.horizon),
        agent_(config, std::move(policy)) {
    begin_episode();
  }

  struct Rates {
    double decisions = 0;  // a second, that were searched
    double imagined = 0;
  };
  Rates search_for(Clock::duration least) {
    Rates done;
    const auto start = Clock::now();
    do {
      const int action = agent_.act(*environment_);
      if (!agent_.tried().empty()) ++done.decisions;
      for (const auto& tried : agent_.tried()) done.imagined += tried.futures * horizon_;
      if (environment_->step(action).final()) begin_episode();
    } while (Clock::now() - start < least);
    const std::chrono::duration<double> taken = Clock::now() - start;
    return {done.decisions / taken.count(), done.imagined / taken.count()};
  }

 private:
  void begin_episode() {
    environment_->reset(Seed{episode_});
    agent_.reset(Seed{episode_++});
  }

  std::unique_ptr<env::Environment> environment_;
  int horizon_;
  planning::SearchAgent agent_;
  std::uint64_t episode_ = 0;
};

// Futures of one decision after the other, each after several actions, in which every further
// decision is the same action where that is possible, else the first one that is: what a search
// costs that has nothing to think about.
double play_futures(const env::Task& task, int action, Clock::duration least) {
  constexpr int kHorizon = 40;
  const auto environment = task.make_factory()();
  std::int64_t decisions = 0;
  std::uint64_t seed = 0;
  environment->reset(Seed{seed});
  const auto choose = [action](const env::Environment& world) {
    if (world.takes(action)) return action;
    int chosen = 0;
    while (!world.takes(chosen)) ++chosen;
    return chosen;
  };
  const auto start = Clock::now();
  do {
    for (int future = 0; future < 64; ++future) {
      const auto root = environment->imagine(Seed{++seed});
      for (const int first : {0, 2, 4, 8}) {
        if (!root->takes(first)) continue;
        const auto world = root->clone();
        bool final = world->step(first).final();
        for (int step = 1; step < kHorizon && !final; ++step) {
          final = world->step(choose(*world)).final();
          ++decisions;
        }
      }
    }
    if (environment->step(choose(*environment)).final()) environment->reset(Seed{++seed});
  } while (Clock::now() - start < least);
  return static_cast<double>(decisions) /
         std::chrono::duration<double>(Clock::now() - start).count();
}

void measure(const std::string& name, Searcher searcher, int repetitions, Figures& figures) {
  constexpr std::chrono::seconds kWarmUp{1};
  constexpr std::chrono::milliseconds kRepetition{500};
  static_cast<void>(searcher.search_for(kWarmUp));
  std::vector<double> decisions;
  std::vector<double> imagined;
  for (int r = 0; r < repetitions; ++r) {
    const auto rates = searcher.search_for(kRepetition);
    decisions.push_back(rates.decisions);
    imagined.push_back(rates.imagined);
  }
  figures.emplace_back(name + "_decisions_per_second", median_of(decisions));
  figures.emplace_back(name + "_imagined_per_second", median_of(imagined));
}

}  // namespace

Figures run_planning_bench(const env::TaskConfig& task_config, const model::NetworkConfig& network,
                           const std::string& rule, int action, int repetitions) {
  const auto task = task_config.make();
  Figures figures;
  std::vector<double> played;
  for (int r = 0; r < repetitions + 2; ++r) {
    played.push_back(play_futures(*task, action, std::chrono::milliseconds{500}));
  }
  figures.emplace_back("model_decisions_per_second", median_of(played));
  measure("rule",
          Searcher(*task, {.horizon = 40}, planning::make_rule_policy(task->make_agent(rule))),
          repetitions, figures);
  const model::NetworkShape shape = model::make_shape(network, task->spec());
  measure("network",
          Searcher(*task, {.horizon = 12, .discount = 0.99},
                   planning::make_network_policy(shape, model::initialise(shape, Seed{1}),
                                                 model::ValueHeads::kValue, task->spec().graphs)),
          repetitions, figures);
  return figures;
}

}  // namespace pacml::bench

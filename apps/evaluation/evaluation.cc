#include "apps/evaluation/evaluation.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "common/heartbeat.h"
#include "common/rng.h"
#include "common/thread_group.h"

namespace pacml::apps {

std::optional<SeedResult> run_episode(env::Environment& environment, env::Agent& agent, Seed seed,
                                      const std::function<bool()>& goes_on) {
  environment.reset(seed);
  agent.reset(seed);
  do {
    beat();
    if (!goes_on()) return std::nullopt;
  } while (!environment.step(agent.act(environment)).final());
  return SeedResult{seed.get(), environment.summary()};
}

NamedPolicy baseline(const env::TaskPtr& task, const std::string& name) {
  static_cast<void>(task->make_agent(name));  // complains now, not in a thread
  return {name, [task, name] { return task->make_agent(name); }};
}

EvalResult evaluate(const env::Task& task, const std::vector<NamedPolicy>& policies,
                    const std::vector<Seed>& seeds, int threads, const EvaluationWatch& watch) {
  EvalResult result{task.spec().metrics, {}};
  for (const auto& policy : policies) {
    result.policies.push_back({policy.name, std::vector<SeedResult>(seeds.size()), policy.learned});
  }
  // One piece of work is one (policy, seed); every thread has an environment of its own.
  const std::size_t pieces = policies.size() * seeds.size();
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  ThreadGroup group;
  const std::stop_callback stopped(watch.stop, [&group] { group.request_stop(); });
  const auto workers =
      std::min<std::size_t>(pieces, static_cast<std::size_t>(std::max(1, threads)));
  for (std::size_t w = 0; w < workers; ++w) {
    group.spawn("evaluate", [&](const std::stop_token& stop) {
      const auto environment = task.make_factory()();
      for (std::size_t i = next++; i < pieces && !stop.stop_requested(); i = next++) {
        const auto agent = policies[i / seeds.size()].make();
        const auto episode = run_episode(*environment, *agent, seeds[i % seeds.size()],
                                         [&stop] { return !stop.stop_requested(); });
        if (!episode) return;
        result.policies[i / seeds.size()].seeds[i % seeds.size()] = *episode;
        if (watch.progress) watch.progress(++done, pieces);
      }
    });
  }
  group.join();
  return result;
}

std::string tuned_baseline(const env::TaskPtr& task, const std::vector<std::string>& names,
                           Seed run, int episodes, int threads, const EvaluationWatch& watch) {
  std::vector<NamedPolicy> policies;
  for (const std::string& name : names) policies.push_back(baseline(task, name));
  return best_of(evaluate(*task, policies, tuning_seeds(run, episodes), threads, watch)).name;
}

std::vector<Seed> tuning_seeds(Seed run, std::int64_t count) {
  std::vector<Seed> seeds;
  for (std::int64_t i = 0; i < count; ++i) {
    seeds.push_back(derive(run, Purpose::kTuning, static_cast<std::uint64_t>(i)));
  }
  return seeds;
}

std::vector<Seed> evaluation_seeds(Seed run, std::int64_t count, std::int64_t first) {
  std::vector<Seed> seeds;
  for (std::int64_t i = first; i < first + count; ++i) {
    seeds.push_back(derive(run, Purpose::kEvaluation, static_cast<std::uint64_t>(i)));
  }
  return seeds;
}

}  // namespace pacml::apps

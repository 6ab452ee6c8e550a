#include "apps/evaluation/evaluation.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "common/heartbeat.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/thread_group.h"
#include "env/problem_list.h"

namespace pacml::apps {

namespace {

std::optional<SeedResult> play(env::Environment& environment, env::Agent& agent, Seed seed,
                               const std::function<bool()>& goes_on) {
  agent.reset(seed);
  do {
    beat();
    if (!goes_on()) return std::nullopt;
  } while (!environment.step(agent.act(environment)).final());
  return SeedResult{seed.get(), environment.summary()};
}

env::ProblemList* problems_of(env::Environment& environment) {
  return dynamic_cast<env::ProblemList*>(&environment);
}

// What an episode is to be.
struct Episode {
  Seed seed{};
  std::optional<std::size_t> problem = {};  // absent: drawn
};

std::optional<SeedResult> play(env::Environment& environment, env::Agent& agent,
                               const Episode& episode, const std::function<bool()>& goes_on) {
  if (!episode.problem) return run_episode(environment, agent, episode.seed, goes_on);
  env::ProblemList& problems = *problems_of(environment);
  problems.reset(episode.seed, *episode.problem);
  auto result = play(environment, agent, episode.seed, goes_on);
  if (result) result->problem = problems.problem_name(*episode.problem);
  return result;
}

EvalResult evaluate(const env::Task& task, const std::vector<NamedPolicy>& policies,
                    const std::vector<Episode>& episodes, int threads,
                    const EvaluationWatch& watch) {
  EvalResult result{task.spec().metrics, {}};
  for (const auto& policy : policies) {
    result.policies.push_back(
        {policy.name, std::vector<SeedResult>(episodes.size()), policy.learned, policy.method});
  }
  // One piece of work is one (policy, episode); every thread has an environment of its own.
  const std::size_t pieces = policies.size() * episodes.size();
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  ThreadGroup group;
  const std::stop_callback stopped(watch.stop, [&group] { group.request_stop(); });
  const auto workers =
      std::min<std::size_t>(pieces, static_cast<std::size_t>(std::max(1, threads)));
  for (std::size_t w = 0; w < workers; ++w) {
    group.spawn("evaluate", [&](const std::stop_token& stop) {
      const auto environment = task.make_factory()();
      // Kept from episode to episode: what a policy has worked out about its task costs most.
      std::unique_ptr<env::Agent> agent;
      std::size_t of = policies.size();
      for (std::size_t i = next++; i < pieces && !stop.stop_requested(); i = next++) {
        if (of != i / episodes.size()) {
          of = i / episodes.size();
          agent = policies[of].make();
        }
        const auto episode = play(*environment, *agent, episodes[i % episodes.size()],
                                  [&stop] { return !stop.stop_requested(); });
        if (!episode) return;
        result.policies[i / episodes.size()].seeds[i % episodes.size()] = *episode;
        if (watch.progress) watch.progress(++done, pieces);
      }
    });
  }
  group.join();
  return result;
}

}  // namespace

std::optional<SeedResult> run_episode(env::Environment& environment, env::Agent& agent, Seed seed,
                                      const std::function<bool()>& goes_on) {
  environment.reset(seed);
  return play(environment, agent, seed, goes_on);
}

NamedPolicy baseline(const env::TaskPtr& task, const std::string& name) {
  static_cast<void>(task->make_agent(name));  // complains now, not in a thread
  return {name, [task, name] { return task->make_agent(name); }};
}

EvalResult evaluate(const env::Task& task, const std::vector<NamedPolicy>& policies,
                    const std::vector<Seed>& seeds, int threads, const EvaluationWatch& watch) {
  std::vector<Episode> episodes;
  for (const Seed seed : seeds) episodes.push_back({.seed = seed});
  return evaluate(task, policies, episodes, threads, watch);
}

std::optional<std::size_t> num_problems(const env::Task& task) {
  const auto environment = task.make_factory()();
  const env::ProblemList* problems = problems_of(*environment);
  if (problems == nullptr) return std::nullopt;
  return problems->num_problems();
}

EvalResult evaluate_problems(const env::Task& task, const std::vector<NamedPolicy>& policies,
                             Seed run, int threads, const EvaluationWatch& watch) {
  const auto problems = num_problems(task);
  const std::size_t count = problems.value_or(0);
  if (count == 0) {
    throw UserError("the task " + task.spec().task + " has no list of problems" +
                    (problems ? " with these settings" : ""));
  }
  const auto seeds = evaluation_seeds(run, static_cast<std::int64_t>(count));
  std::vector<Episode> episodes;
  for (std::size_t i = 0; i < count; ++i) episodes.push_back({seeds[i], i});
  return evaluate(task, policies, episodes, threads, watch);
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

int threads_or_cores(std::int64_t wanted) {
  if (wanted > 0) return static_cast<int>(wanted);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::vector<Seed> evaluation_seeds(Seed run, std::int64_t count, std::int64_t first) {
  std::vector<Seed> seeds;
  for (std::int64_t i = first; i < first + count; ++i) {
    seeds.push_back(derive(run, Purpose::kEvaluation, static_cast<std::uint64_t>(i)));
  }
  return seeds;
}

}  // namespace pacml::apps

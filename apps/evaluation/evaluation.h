#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/evaluation/eval_result.h"
#include "common/ids.h"
#include "env/task.h"

namespace pacml::apps {

// One episode of `agent`. `seed` names what chance decides: the same for every policy. It goes on
// as long as `goes_on`, which is asked before each step; nullopt: it did not to the end.
[[nodiscard]] std::optional<SeedResult> run_episode(
    env::Environment& environment, env::Agent& agent, Seed seed,
    const std::function<bool()>& goes_on = [] { return true; });

// A policy that can be made once per thread.
struct NamedPolicy {
  std::string name;
  std::function<std::unique_ptr<env::Agent>()> make;
  bool learned = false;     // of a run: no baseline
  std::string method = {};  // PolicyResult's
};

// One of the task's baselines that is an agent itself. UserError: there is none of that name.
[[nodiscard]] NamedPolicy baseline(const env::TaskPtr& task, const std::string& name);

// How somebody takes part in work that takes its time.
struct EvaluationWatch {
  std::stop_token stop;  // requested: the result has not been computed, and means nothing
  // Called after each episode with how many are done, of how many; thread-safe.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

// Every policy on the same `seeds`, spread over `threads` threads. The result does not depend on
// the number of threads. UserError as the environments throw it.
[[nodiscard]] EvalResult evaluate(const env::Task& task, const std::vector<NamedPolicy>& policies,
                                  const std::vector<Seed>& seeds, int threads,
                                  const EvaluationWatch& watch = {});

// How many problems the task's episodes draw from; 0: none with these settings, nullopt: it is no
// such task.
[[nodiscard]] std::optional<std::size_t> num_problems(const env::Task& task);

// Every policy on each of the task's problems once; otherwise as above. `run` seeds what chance
// decides beside. UserError: the task has no list of problems.
[[nodiscard]] EvalResult evaluate_problems(const env::Task& task,
                                           const std::vector<NamedPolicy>& policies, Seed run,
                                           int threads, const EvaluationWatch& watch = {});

// As many threads as are wanted; where that is 0, one per core.
[[nodiscard]] int threads_or_cores(std::int64_t wanted);

// What a baseline is chosen on where nobody says how many.
inline constexpr int kTuningEpisodes = 5;

// Of these baselines, the one that does best on `episodes` tuning episodes (which no evaluation
// uses). Pre: there is one.
[[nodiscard]] std::string tuned_baseline(const env::TaskPtr& task,
                                         const std::vector<std::string>& names, Seed run,
                                         int episodes, int threads,
                                         const EvaluationWatch& watch = {});

// Seeds of tuning episodes of a run seed: what chooses between policies during training, too.
[[nodiscard]] std::vector<Seed> tuning_seeds(Seed run, std::int64_t count);
// Seeds of held-out episodes first .. first + count - 1 of a run seed; training never uses them.
// Where a task has a list of problems or of jobs to draw from, other seeds draw from the same list.
[[nodiscard]] std::vector<Seed> evaluation_seeds(Seed run, std::int64_t count,
                                                 std::int64_t first = 0);

}  // namespace pacml::apps

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/evaluation/eval_result.h"
#include "common/result.h"
#include "env/graph/profile.h"
#include "env/policies/heuristic.h"
#include "env/tasks/partitioning.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::apps {

// One episode of `policy`, with its statistics. `seed` names the arrivals: the same for every
// policy. Given up, without statistics, when `stop` is requested.
[[nodiscard]] SeedResult run_episode(env::PartitioningEnv& environment, env::Heuristic& policy,
                                     Seed seed, const std::stop_token& stop = {});

// The same, as long as `goes_on`, which is asked before each step; nullopt: it did not to the end.
[[nodiscard]] std::optional<SeedResult> run_episode_while(env::PartitioningEnv& environment,
                                                          env::Heuristic& policy, Seed seed,
                                                          const std::function<bool()>& goes_on);

// A policy whose network says nothing that can be acted upon (model::is_sound), because its
// training had diverged.
class UnsoundPolicy final : public UserError {
 public:
  using UserError::UserError;
};

// A trained network that takes its most probable action; act() may throw UnsoundPolicy.
// Thread-confined.
class TrainedPolicy final : public env::Heuristic {
 public:
  TrainedPolicy(const model::NetworkShape& shape, const model::Parameters& parameters,
                std::span<const env::GraphFeaturesPtr> graphs);
  ~TrainedPolicy() override;
  [[nodiscard]] int act(const env::PartitioningEnv& env) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A policy that can be made once per thread.
struct NamedPolicy {
  std::string name;
  std::function<std::unique_ptr<env::Heuristic>(const env::EnvironmentSpec&)> make;
};

// How somebody takes part in work that takes its time.
struct EvaluationWatch {
  std::stop_token stop;  // requested: the result has not been computed, and means nothing
  // Called after each episode with how many are done, of how many; thread-safe.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

// Every policy on the same `seeds`, spread over `threads` threads. The result does not depend on
// the number of threads. UserError as the environments throw it.
[[nodiscard]] EvalResult evaluate(const env::PartitioningConfig& config,
                                  const std::vector<env::Profile>& profiles,
                                  const std::vector<NamedPolicy>& policies,
                                  const std::vector<Seed>& seeds, int threads,
                                  const EvaluationWatch& watch = {});

// The constant degree that blocks least on `episodes` tuning episodes (which no evaluation uses).
[[nodiscard]] int best_constant_degree(const env::PartitioningConfig& config,
                                       const std::vector<env::Profile>& profiles, Seed run,
                                       int episodes, int threads,
                                       const EvaluationWatch& watch = {});

// Seeds of held-out episodes first .. first + count - 1 of a run seed; training never uses them.
[[nodiscard]] std::vector<Seed> evaluation_seeds(Seed run, std::int64_t count,
                                                 std::int64_t first = 0);

}  // namespace pacml::apps

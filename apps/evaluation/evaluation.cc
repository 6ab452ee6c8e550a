#include "apps/evaluation/evaluation.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <stop_token>
#include <utility>

#include "common/heartbeat.h"
#include "common/rng.h"
#include "common/thread_group.h"
#include "env/numerics.h"
#include "model/action_distribution.h"
#include "model/fused_policy.h"

namespace pacml::apps {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double mean_over_jobs(const std::vector<env::CompletedJob>& jobs,
                      double env::CompletedJob::*figure) {
  if (jobs.empty()) return kNone;
  std::vector<double> values;
  for (const auto& job : jobs) values.push_back(job.*figure);
  return env::pairwise_mean(values);
}

}  // namespace

SeedResult run_episode(env::PartitioningEnv& environment, env::Heuristic& policy, Seed seed,
                       const std::stop_token& stop) {
  return run_episode_while(environment, policy, seed, [&stop] { return !stop.stop_requested(); })
      .value_or(SeedResult{});
}

std::optional<SeedResult> run_episode_while(env::PartitioningEnv& environment,
                                            env::Heuristic& policy, Seed seed,
                                            const std::function<bool()>& goes_on) {
  environment.keep_log(true);
  environment.reset(seed);
  policy.reset(seed);
  do {
    beat();
    if (!goes_on()) return std::nullopt;
  } while (!environment.step(policy.act(environment)).final());
  const env::Cluster& cluster = environment.cluster();
  const auto& counters = cluster.counters();
  SeedResult result;
  result.seed = seed.get();
  result.arrived = counters.arrived;
  result.completed = counters.completed;
  result.blocked = counters.blocked;
  for (std::size_t cause = 1; cause < env::kNumBlockCauses; ++cause) {
    if (counters.blocked_by_cause[cause] == 0) continue;
    result.blocked_by_cause[name_of(static_cast<env::BlockCause>(cause))] =
        counters.blocked_by_cause[cause];
  }
  result.blocking_rate = environment.summary().blocking_rate;
  const auto& log = cluster.log();
  result.mean_jct = mean_over_jobs(log.completed, &env::CompletedJob::completion_time);
  result.mean_jct_speedup = mean_over_jobs(log.completed, &env::CompletedJob::speedup);
  std::vector<double> demand;
  for (const auto& step : log.steps) {
    demand.push_back(step.info[static_cast<std::size_t>(env::Info::kDemandTotal)]);
  }
  result.mean_demand_total_throughput =
      cluster.now() > 0 ? env::pairwise_sum(demand) / cluster.now() : 0;
  return result;
}

struct TrainedPolicy::Impl {
  std::unique_ptr<model::Policy> network;
  Observations batch;
  model::PolicyOutput output;
  PolicyVersion version;
};

TrainedPolicy::TrainedPolicy(const model::NetworkShape& shape, const model::Parameters& parameters,
                             std::span<const env::GraphFeaturesPtr> graphs)
    : impl_(std::make_unique<Impl>()) {
  impl_->network = model::make_fused_policy(shape);
  impl_->network->set_graphs(graphs);
  impl_->network->set_parameters(parameters);
  impl_->version = parameters.version;
  impl_->batch = Observations(model::input_shape(shape));
}

TrainedPolicy::~TrainedPolicy() = default;

int TrainedPolicy::act(const env::PartitioningEnv& env) {
  impl_->batch.clear();
  env.observe(impl_->batch);
  impl_->network->evaluate(impl_->batch, impl_->output);
  if (!model::is_sound(impl_->output)) {
    throw UnsoundPolicy("the policy of update " + std::to_string(impl_->version.get()) +
                        " says nothing that can be acted upon: its training had diverged");
  }
  return model::best_action(impl_->output.logits);
}

EvalResult evaluate(const env::PartitioningConfig& config,
                    const std::vector<env::Profile>& profiles,
                    const std::vector<NamedPolicy>& policies, const std::vector<Seed>& seeds,
                    int threads, const EvaluationWatch& watch) {
  EvalResult result;
  for (const auto& policy : policies) {
    result.policies.push_back({policy.name, std::vector<SeedResult>(seeds.size())});
  }
  // One piece of work is one (policy, seed); every thread has a world of its own.
  const std::size_t pieces = policies.size() * seeds.size();
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  ThreadGroup group;
  const std::stop_callback stopped(watch.stop, [&group] { group.request_stop(); });
  const auto workers =
      std::min<std::size_t>(pieces, static_cast<std::size_t>(std::max(1, threads)));
  for (std::size_t w = 0; w < workers; ++w) {
    group.spawn("evaluate", [&](const std::stop_token& stop) {
      const auto world = std::make_shared<const env::PartitioningWorld>(config, profiles);
      env::PartitioningEnv environment(world);
      for (std::size_t i = next++; i < pieces && !stop.stop_requested(); i = next++) {
        const auto& policy = policies[i / seeds.size()];
        const auto made = policy.make(world->spec());
        result.policies[i / seeds.size()].seeds[i % seeds.size()] =
            run_episode(environment, *made, seeds[i % seeds.size()], stop);
        if (watch.progress) watch.progress(++done, pieces);
      }
    });
  }
  group.join();
  return result;
}

int best_constant_degree(const env::PartitioningConfig& config,
                         const std::vector<env::Profile>& profiles, Seed run, int episodes,
                         int threads, const EvaluationWatch& watch) {
  std::vector<NamedPolicy> policies;
  std::vector<int> degrees;
  const env::Topology topology(config.ramp.topology, config.max_partitions_per_op);
  for (int degree = 1; degree <= config.max_partitions_per_op; degree += degree == 1 ? 1 : 2) {
    if (degree > topology.num_servers()) break;
    if (degree > 1 && !topology.has_block_shape(degree)) continue;
    degrees.push_back(degree);
    const std::string name = "constant:" + std::to_string(degree);
    policies.push_back({name, [name](const auto&) { return env::make_heuristic(name); }});
  }
  std::vector<Seed> seeds;
  for (int e = 0; e < episodes; ++e) {
    seeds.push_back(derive(run, Purpose::kTuning, static_cast<std::uint64_t>(e)));
  }
  const auto result = evaluate(config, profiles, policies, seeds, threads, watch);
  std::size_t best = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < degrees.size(); ++p) {
    const double rate = mean_interval(result.policies[p], &SeedResult::blocking_rate).mean;
    if (rate < lowest) {
      lowest = rate;
      best = p;
    }
  }
  return degrees[best];
}

std::vector<Seed> evaluation_seeds(Seed run, std::int64_t count, std::int64_t first) {
  std::vector<Seed> seeds;
  for (std::int64_t i = first; i < first + count; ++i) {
    seeds.push_back(derive(run, Purpose::kEvaluation, static_cast<std::uint64_t>(i)));
  }
  return seeds;
}

}  // namespace pacml::apps

#include "apps/evaluation/evaluation.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/evaluation/eval_json.h"
#include "apps/evaluation/held_out.h"
#include "apps/evaluation/policy_list.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/graph/profile_library.h"
#include "env/tasks/partitioning.h"
#include "model/action_distribution.h"
#include "model/reference_policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

const TrainConfig& config() {
  static const TrainConfig kConfig = testing::tiny_config();
  return kConfig;
}
const std::vector<env::Profile>& profiles() {
  static const auto kProfiles =
      env::load_profiles(config().env.profiles, config().env.workload.models);
  return kProfiles;
}
std::shared_ptr<const env::PartitioningWorld> make_world() {
  return std::make_shared<const env::PartitioningWorld>(config().env, profiles());
}
NamedPolicy heuristic(const std::string& name) {
  return {name, [name](const auto&) { return env::make_heuristic(name); }};
}

// Remembers what another policy did.
class Recording final : public env::Heuristic {
 public:
  Recording(std::unique_ptr<env::Heuristic> inner, std::vector<int>& actions)
      : inner_(std::move(inner)), actions_(&actions) {}
  void reset(Seed seed) override { inner_->reset(seed); }
  int act(const env::PartitioningEnv& env) override {
    actions_->push_back(inner_->act(env));
    return actions_->back();
  }

 private:
  std::unique_ptr<env::Heuristic> inner_;
  std::vector<int>* actions_;
};

TEST_CASE("an episode's figures add up", "[unit][evaluation]") {
  env::PartitioningEnv environment(make_world());
  for (const char* name : {"para_max", "constant:2", "random", "min_feasible"}) {
    const auto policy = env::make_heuristic(name);
    const SeedResult result = run_episode(environment, *policy, Seed{77});
    INFO(name);
    CHECK(result.seed == 77);
    CHECK(result.arrived > 10);
    // The job that arrives as the episode ends is not decided upon.
    const std::int64_t undecided = result.arrived - result.completed - result.blocked;
    CHECK((undecided == 0 || undecided == 1));
    std::int64_t by_cause = 0;
    for (const auto& [cause, count] : result.blocked_by_cause) {
      CHECK(count > 0);
      by_cause += count;
    }
    CHECK(by_cause == result.blocked);
    CHECK(result.blocking_rate ==
          static_cast<double>(result.blocked) / static_cast<double>(result.arrived));
    CHECK(result.mean_jct > 0);
    CHECK(result.mean_jct_speedup > 0);
    CHECK(result.mean_demand_total_throughput > 0);
  }
}

TEST_CASE("an episode without a completed job has no mean completion time", "[unit][evaluation]") {
  env::PartitioningEnv environment(make_world());
  const auto refuse_all = env::make_heuristic("constant:0");
  const SeedResult result = run_episode(environment, *refuse_all, Seed{77});
  CHECK(result.completed == 0);
  CHECK(result.blocked >= result.arrived - 1);
  CHECK(std::isnan(result.mean_jct));
  CHECK(std::isnan(result.mean_jct_speedup));
}

TEST_CASE("a comparison does not depend on the number of threads", "[unit][evaluation]") {
  const std::vector<NamedPolicy> policies = {heuristic("random"), heuristic("para_max"),
                                             heuristic("min_feasible")};
  const auto seeds = evaluation_seeds(Seed{3}, 4);
  const auto alone = to_json(evaluate(config().env, profiles(), policies, seeds, 1));
  CHECK(to_json(evaluate(config().env, profiles(), policies, seeds, 3)) == alone);
  CHECK(to_json(evaluate(config().env, profiles(), policies, seeds, 100)) == alone);
}

TEST_CASE("a policy's figures do not depend on the company that it is compared in",
          "[unit][evaluation]") {
  const auto seeds = evaluation_seeds(Seed{3}, 3);
  const auto both =
      evaluate(config().env, profiles(), {heuristic("para_max"), heuristic("random")}, seeds, 1);
  const auto alone = evaluate(config().env, profiles(), {heuristic("random")}, seeds, 1);
  CHECK(to_json({{both.policies[1]}}) == to_json(alone));
}

TEST_CASE("held-out, tuning and training episodes are never the same", "[unit][evaluation]") {
  const auto seeds = evaluation_seeds(Seed{1}, 100);
  std::set<Seed> all(seeds.begin(), seeds.end());
  for (std::uint64_t i = 0; i < 100; ++i) {
    all.insert(derive(Seed{1}, Purpose::kTuning, i));
    all.insert(derive(Seed{1}, Purpose::kEpisode, i));
  }
  CHECK(all.size() == 300);
  CHECK(evaluation_seeds(Seed{1}, 3)[2] == seeds[2]);
  CHECK(evaluation_seeds(Seed{2}, 1)[0] != seeds[0]);
}

TEST_CASE("the best constant degree is the one that blocks least on the tuning episodes",
          "[unit][evaluation]") {
  constexpr int kEpisodes = 4;
  std::vector<Seed> seeds;
  for (std::uint64_t e = 0; e < kEpisodes; ++e) {
    seeds.push_back(derive(Seed{1}, Purpose::kTuning, e));
  }
  int best = 0;
  double lowest = 2;
  for (const int degree : {1, 2, 4}) {
    const auto result = evaluate(config().env, profiles(),
                                 {heuristic("constant:" + std::to_string(degree))}, seeds, 1);
    const double rate = mean_interval(result.policies[0], &SeedResult::blocking_rate).mean;
    if (rate < lowest) {
      lowest = rate;
      best = degree;
    }
  }
  CHECK(best_constant_degree(config().env, profiles(), Seed{1}, kEpisodes, 1) == best);
  CHECK(best_constant_degree(config().env, profiles(), Seed{1}, kEpisodes, 3) == best);
}

TEST_CASE("a trained policy takes the action that its network finds most probable",
          "[unit][evaluation]") {
  const auto world = make_world();
  const auto shape = model::make_shape(config().network, world->spec());
  const auto parameters = model::random_parameters(shape, Seed{4});
  const auto reference = model::make_reference_policy(shape);
  reference->set_graphs(world->spec().graphs);
  reference->set_parameters(parameters);

  TrainedPolicy policy(shape, parameters, world->spec().graphs);
  env::PartitioningEnv environment(world);
  environment.reset(Seed{5});
  Observations batch(model::input_shape(shape));
  model::PolicyOutput output;
  std::set<int> taken;
  for (bool final = false; !final;) {
    batch.clear();
    environment.observe(batch);
    reference->evaluate(batch, output);
    const int action = policy.act(environment);
    REQUIRE(action == model::best_action(output.logits));
    REQUIRE(environment.mask()[static_cast<std::size_t>(action)] == 1);
    taken.insert(action);
    final = environment.step(action).final();
  }
  CHECK_FALSE(taken.empty());
}

TEST_CASE("policies are scored during training on tuning episodes, always the same",
          "[unit][evaluation]") {
  const auto world = make_world();
  const auto shape = model::make_shape(config().network, world->spec());
  const auto parameters = model::random_parameters(shape, Seed{4});
  HeldOutEvaluator evaluator(config().env, profiles(), shape, Seed{1}, 3);
  const double score = evaluator.blocking_rate(parameters).value();
  static_cast<void>(evaluator.blocking_rate(model::random_parameters(shape, Seed{6})));
  CHECK(evaluator.blocking_rate(parameters).value() == score);

  std::vector<Seed> seeds;
  for (std::uint64_t e = 0; e < 3; ++e) seeds.push_back(derive(Seed{1}, Purpose::kTuning, e));
  const NamedPolicy trained{"trained", [&](const env::EnvironmentSpec& spec) {
                              return std::make_unique<TrainedPolicy>(shape, parameters,
                                                                     spec.graphs);
                            }};
  const auto result = evaluate(config().env, profiles(), {trained}, seeds, 1);
  CHECK(mean_interval(result.policies[0], &SeedResult::blocking_rate).mean == Approx(score));

  HeldOutEvaluator none(config().env, profiles(), shape, Seed{1}, 0);
  CHECK(std::isnan(none.blocking_rate(parameters).value()));

  int steps = 0;
  CHECK_FALSE(evaluator.blocking_rate(parameters, [&] { return ++steps < 30; }));
  CHECK(steps == 30);  // it was asked before each
}

TEST_CASE("lists of policies are split at commas; none at all means every baseline",
          "[unit][evaluation]") {
  using Names = std::vector<std::string>;
  CHECK(split_names({"a,b", "c"}) == Names{"a", "b", "c"});
  const Names all = split_names({});
  CHECK(all.size() >= 6);
  CHECK(split_names({"baselines"}) == all);
}

TEST_CASE("an empty name of a policy is refused", "[unit][evaluation]") {
  for (const std::string list : {"", ",", "a,", ",a", "a,,b"}) {
    INFO(list);
    CHECK_THROWS_WITH(split_names({list}), "--policy " + list + ": a name is empty");
  }
}

TEST_CASE("a comma in the name of a run does not split it", "[unit][evaluation]") {
  using Names = std::vector<std::string>;
  const testing::TempDir folder;
  const std::string run = (folder / "lr=1,seed=2").string();
  std::filesystem::create_directory(run);
  CHECK(split_names({run}) == Names{run});
  CHECK(split_names({"a," + run + ",b", run}) == Names{"a", run, "b", run});
  CHECK(split_names({run + "0"}).size() == 2);  // which is not there
}

TEST_CASE("an evaluation ends when it is asked to, and tells how far it is", "[unit][evaluation]") {
  std::stop_source stop;
  std::vector<std::size_t> told;
  const EvaluationWatch watch{stop.get_token(), [&](std::size_t done, std::size_t all) {
                                told.push_back(done);
                                CHECK(all == 30);
                                if (done == 3) stop.request_stop();
                              }};
  static_cast<void>(evaluate(config().env, profiles(), {heuristic("para_max")},
                             evaluation_seeds(Seed{1}, 30), 1, watch));
  CHECK(told == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("held-out episodes can be named from any number on", "[unit][evaluation]") {
  const auto all = evaluation_seeds(Seed{1}, 5);
  CHECK(evaluation_seeds(Seed{1}, 2, 3) == std::vector<Seed>(all.begin() + 3, all.end()));
}

TEST_CASE("every baseline can be named, and a wrong name is corrected", "[unit][evaluation]") {
  const auto policies = name_policies(split_names({}), config(), profiles(), 1);
  CHECK(policies.size() == split_names({}).size());
  for (const auto& policy : policies) CHECK(policy.make(make_world()->spec()) != nullptr);

  const auto tuned = name_policies({"best_constant"}, config(), profiles(), 1);
  const int degree = best_constant_degree(config().env, profiles(), Seed{1}, 5, 1);
  CHECK(tuned[0].name == "best_constant:" + std::to_string(degree));

  CHECK_THROWS_WITH(name_policies({"best_constnat"}, config(), profiles(), 1),
                    "there is no policy and no run folder \"best_constnat\"; did you mean "
                    "'best_constant'?");
  CHECK_THROWS_AS(name_policies({"constant:x"}, config(), profiles(), 1), UserError);
}

}  // namespace
}  // namespace pacml::apps

#include "apps/evaluation/evaluation.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/evaluation/eval_json.h"
#include "apps/evaluation/held_out.h"
#include "apps/evaluation/policy_list.h"
#include "apps/evaluation/searched_policy.h"
#include "apps/evaluation/trained_agent.h"
#include "apps/evaluation/trained_run.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/scope_exit.h"
#include "env/tasks/cluster_scheduling/task.h"
#include "env/tasks/device_placement/task.h"
#include "env/tasks/partitioning/environment.h"
#include "model/action_distribution.h"
#include "model/reference_policy.h"
#include "planning/search_agent.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/random_run.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

const TrainConfig& config() {
  static const TrainConfig kConfig = testing::tiny_config();
  return kConfig;
}
std::shared_ptr<const env::PartitioningTask> make_task() {
  return std::dynamic_pointer_cast<const env::PartitioningTask>(config().env.make());
}
NamedPolicy heuristic(const std::string& name) { return baseline(config().env.make(), name); }

// The task's metric of that name in an episode.
double metric(const SeedResult& result, const char* name) {
  return make_task()->spec().metric(result.episode, name);
}

env::TaskPtr placing_task() {
  env::DevicePlacementConfig placing;
  placing.families = {"branch", "grid"};
  placing.num_graphs = 3;
  placing.devices = {"placeto:2", "placeto:3"};
  return std::make_shared<const env::DevicePlacementTask>(placing);
}

TEST_CASE("each problem of a task is evaluated once", "[unit][evaluation]") {
  const auto task = placing_task();
  const auto policies = name_policies({"heft", "heft+refine", "heft+refine:1"}, task, Seed{1}, 1);
  const auto result = evaluate_problems(*task, policies, Seed{1}, 1);
  REQUIRE(result.policies.size() == 3);
  std::set<std::string> names;
  for (const SeedResult& episode : result.policies[0].seeds) names.insert(episode.problem);
  CHECK(result.policies[0].seeds.size() == 12);
  CHECK(names ==
        std::set<std::string>(task->spec().graph_names.begin(), task->spec().graph_names.end()));
  CHECK(to_json(evaluate_problems(*task, policies, Seed{1}, 3)) == to_json(result));
  CHECK_THAT(to_json(result), Catch::Contains("\"problem\": \"grid 2 on placeto:3\""));
  CHECK(result.policies[1].name == "heft+refine");
  CHECK(result.policies[2].name == "heft+refine:1");
  CHECK(mean_interval(result.policies[1], 0).mean < mean_interval(result.policies[0], 0).mean);
  CHECK(mean_interval(result.policies[2], 0).mean == mean_interval(result.policies[0], 0).mean);

  CHECK_THROWS_WITH(evaluate_problems(*make_task(), {heuristic("random")}, Seed{1}, 1),
                    Catch::Contains("no list of problems"));
  const auto refusal = [](const std::string& name, const env::TaskPtr& of) -> std::string {
    try {
      static_cast<void>(name_policies({name}, of, Seed{1}, 1));
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(refusal("heft+refine:0", task), Catch::Contains("number of simulations"));
  CHECK_THAT(refusal("haft+refine", task), Catch::Contains("did you mean 'heft'?"));
  CHECK_THAT(refusal("para_max+refine", make_task()), Catch::Contains("nothing to search on from"));
}

TEST_CASE("schedulers are compared on each list of jobs once", "[unit][evaluation]") {
  const testing::TempDir folder;
  env::ClusterSchedulingConfig config;
  for (const std::string name : {"first", "second"}) {
    const std::string file = (folder / (name + ".json")).string();
    std::ofstream(file) << R"({"name": ")" << name << R"(", "jobs": [{"submit": 9, "gpus": 1,)"
                        << R"( "type": "image_small", "steps": 100}]})";
    config.job_lists.push_back(file);
  }
  const auto judge = [&config] {
    const auto task = std::make_shared<const env::ClusterSchedulingTask>(config);
    return evaluate_problems(*task, {baseline(task, "fifo_best_fit")}, Seed{0}, 1);
  };
  const EvalResult result = judge();
  REQUIRE(result.policies.at(0).seeds.size() == 2);
  CHECK(result.policies[0].seeds[0].problem == "first");
  CHECK(result.policies[0].seeds[1].problem == "second");
  for (const SeedResult& episode : result.policies[0].seeds) {
    CHECK(episode.episode.metrics[1] == Approx(1));  // a job alone takes what it takes alone
  }
  config.job_lists.clear();
  CHECK_THROWS_WITH(judge(),
                    "the task cluster_scheduling has no list of problems with these settings");
}

TEST_CASE("a policy that draws its actions takes each as often as it finds it probable",
          "[unit][evaluation]") {
  const testing::TempDir folder;
  const std::string run = (folder / "run").string();
  testing::write_random_run(run, config(), 3);
  const auto task = make_task();
  const auto drawing = name_policies({run + "+sample"}, task, Seed{1}, 1).front();
  CHECK(drawing.name == run + "+sample");
  CHECK(drawing.learned);
  const auto agent = drawing.make();
  auto* network = dynamic_cast<TrainedAgent*>(agent.get());
  REQUIRE(network != nullptr);
  env::PartitioningEnv environment(task);
  environment.reset(Seed{5});
  const std::vector<float> logits = network->evaluate(environment).logits;
  std::vector<float> log_probs(logits.size());
  model::log_probabilities(logits, log_probs);
  std::vector<double> share(logits.size(), 0.0);
  constexpr int kDraws = 20'000;
  agent->reset(Seed{8});
  for (int i = 0; i < kDraws; ++i) {
    share[static_cast<std::size_t>(agent->act(environment))] += 1.0 / kDraws;
  }
  for (std::size_t a = 0; a < share.size(); ++a) {
    const double p = std::exp(log_probs[a]);
    INFO("action " << a);
    CHECK(std::abs(share[a] - p) <= 5 * std::sqrt(p * (1 - p) / kDraws));  // 5 deviations
  }
  // Of an episode it is a function of the seed.
  const auto policies = name_policies({run, run + "+sample"}, task, Seed{1}, 1);
  const std::vector<Seed> seeds = {Seed{1}, Seed{2}, Seed{3}};
  const auto result = evaluate(*task, policies, seeds, 1);
  CHECK(to_json(evaluate(*task, policies, seeds, 3)) == to_json(result));
  CHECK_FALSE(result.policies[0].seeds[0].episode.episode_return ==
              result.policies[1].seeds[0].episode.episode_return);

  TrainConfig valued = config();
  valued.algorithm = AlgorithmKind::kApex;
  testing::write_random_run(folder / "valued", valued, 3);
  CHECK_THROWS_WITH(name_policies({(folder / "valued").string() + "+sample"}, task, Seed{1}, 1),
                    Catch::Contains("what actions are worth, not how probable"));
  for (const std::string suffix : {"+sample:3", "+nope"}) {
    CHECK_THROWS_WITH(name_policies({run + suffix}, task, Seed{1}, 1),
                      Catch::Contains("behind a policy may stand +sample, +search or +refine") &&
                          Catch::EndsWith("not " + suffix));
  }
  CHECK_THROWS_WITH(name_policies({"para_max+sample"}, task, Seed{1}, 1),
                    "para_max+sample: only the policy of a run can be sampled");
  CHECK_THROWS_WITH(name_policies({run + "+sample+search"}, task, Seed{1}, 1),
                    Catch::EndsWith("behind " + run +
                                    " may stand one of +sample and +search, and +refine behind "
                                    "that"));
}

TEST_CASE("a folder of runs stands for all of them, as trainings of one method",
          "[unit][evaluation]") {
  const testing::TempDir folder;
  const std::string method = (folder / "method").string();
  for (const char* run : {"b", "a"}) {
    testing::write_random_run((folder / "method" / run).string(), config(), 3);
  }
  std::filesystem::create_directory(folder / "method" / "notes");
  const auto task = make_task();
  const auto policies = list_policies({"para_max," + method, method + "+sample"}, task, Seed{1}, 1);
  std::vector<std::string> names;
  std::vector<std::string> methods;
  for (const NamedPolicy& policy : policies) {
    names.push_back(policy.name);
    methods.push_back(policy.method);
  }
  const std::string drawn = "+sample";
  CHECK(names == std::vector<std::string>{"para_max", method + "/a", method + "/b",
                                          method + "/a" + drawn, method + "/b" + drawn});
  CHECK(methods == std::vector<std::string>{"", method, method, method + drawn, method + drawn});
  const auto result = evaluate(*task, policies, {Seed{1}}, 1);
  CHECK(methods_of(result).size() == 2);
  CHECK(result.policies[1].method == method);
  CHECK_THROWS_WITH(list_policies({method, method}, task, Seed{1}, 1),
                    method + ": the trainings in this folder are named twice");
  // One run is no several.
  testing::write_random_run((folder / "single" / "a").string(), config(), 3);
  const auto single = list_policies({(folder / "single").string()}, task, Seed{1}, 1);
  REQUIRE(single.size() == 1);
  CHECK(single[0].method.empty());
  // A run is itself, and a folder without any is none.
  CHECK(list_policies({method + "/a"}, task, Seed{1}, 1).front().method.empty());
  CHECK_THROWS_AS(list_policies({method + "/notes"}, task, Seed{1}, 1), UserError);
}

TEST_CASE("an episode's figures add up", "[unit][evaluation]") {
  const auto task = make_task();
  env::PartitioningEnv environment(task);
  for (const char* name : {"para_max", "constant:2", "random", "min_feasible"}) {
    const auto agent = task->make_agent(name);
    const SeedResult result = run_episode(environment, *agent, Seed{77}).value();
    INFO(name);
    const auto of = [&result](const char* metric_name) { return metric(result, metric_name); };
    CHECK(result.seed == 77);
    CHECK(of("arrived") > 10);
    // The job that arrives as the episode ends is not decided upon.
    const double undecided = of("arrived") - of("completed") - of("blocked");
    CHECK((undecided == 0 || undecided == 1));
    double by_cause = 0;
    for (const env::MetricSpec& spec : task->spec().metrics) {
      if (spec.name.starts_with("blocked_by_")) by_cause += of(spec.name.c_str());
    }
    CHECK(by_cause == Approx(of("blocked") / of("arrived")));
    CHECK(of("blocking_rate") == of("blocked") / of("arrived"));
    CHECK(of("mean_jct") > 0);
    CHECK(of("mean_jct_speedup") > 0);
    CHECK(of("mean_demand_total_throughput") > 0);
  }
}

TEST_CASE("an episode's means are those of its log", "[unit][evaluation]") {
  const auto task = make_task();
  env::PartitioningEnv environment(task);
  environment.keep_log(true);
  const SeedResult result = run_episode(environment, *task->make_agent("random"), Seed{78}).value();
  const env::EpisodeLog& log = environment.cluster().log();
  double time = 0;
  double speedup = 0;
  for (const env::CompletedJob& job : log.completed) {
    time += job.completion_time;
    speedup += job.speedup;
  }
  double demand = 0;
  for (const auto& step : log.steps) {
    demand += step.info[static_cast<std::size_t>(env::Info::kDemandTotal)];
  }
  const auto jobs = static_cast<double>(log.completed.size());
  REQUIRE(jobs > 0);
  CHECK(metric(result, "completed") == jobs);
  CHECK(metric(result, "mean_jct") == Approx(time / jobs).epsilon(1e-12));
  CHECK(metric(result, "mean_jct_speedup") == Approx(speedup / jobs).epsilon(1e-12));
  CHECK(metric(result, "mean_demand_total_throughput") ==
        Approx(demand / environment.cluster().now()).epsilon(1e-12));
}

TEST_CASE("an episode without a completed job has no mean completion time", "[unit][evaluation]") {
  const auto task = make_task();
  env::PartitioningEnv environment(task);
  const SeedResult result =
      run_episode(environment, *task->make_agent("constant:0"), Seed{77}).value();
  CHECK(metric(result, "completed") == 0);
  CHECK(metric(result, "blocked") >= metric(result, "arrived") - 1);
  CHECK(std::isnan(metric(result, "mean_jct")));
  CHECK(std::isnan(metric(result, "mean_jct_speedup")));
}

TEST_CASE("a comparison does not depend on the number of threads", "[unit][evaluation]") {
  const auto policies =
      name_policies({"random", "para_max", "min_feasible", "min_feasible+search:K=2,H=3"},
                    make_task(), Seed{3}, 1);
  const auto seeds = evaluation_seeds(Seed{3}, 4);
  const auto alone = to_json(evaluate(*make_task(), policies, seeds, 1));
  CHECK(to_json(evaluate(*make_task(), policies, seeds, 3)) == alone);
  CHECK(to_json(evaluate(*make_task(), policies, seeds, 100)) == alone);
}

TEST_CASE("a policy's figures do not depend on the company that it is compared in",
          "[unit][evaluation]") {
  const auto seeds = evaluation_seeds(Seed{3}, 3);
  const auto both = evaluate(*make_task(), {heuristic("para_max"), heuristic("random")}, seeds, 1);
  const auto alone = evaluate(*make_task(), {heuristic("random")}, seeds, 1);
  CHECK(to_json({both.metrics, {both.policies[1]}}) == to_json(alone));
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
  const std::vector<std::string> constants = {"constant:1", "constant:2", "constant:4"};
  std::string best;
  double lowest = 2;
  for (const std::string& name : constants) {
    const auto result =
        evaluate(*make_task(), {heuristic(name)}, tuning_seeds(Seed{1}, kEpisodes), 1);
    const double rate = mean_interval(result.policies[0], 0).mean;
    if (rate < lowest) {
      lowest = rate;
      best = name;
    }
  }
  CHECK(tuned_baseline(make_task(), constants, Seed{1}, kEpisodes, 1) == best);
  CHECK(tuned_baseline(make_task(), constants, Seed{1}, kEpisodes, 3) == best);
}

TEST_CASE("a trained policy takes the action that its network finds most probable",
          "[unit][evaluation]") {
  const auto task = make_task();
  const auto shape = model::make_shape(config().network, task->spec());
  const auto parameters = model::random_parameters(shape, Seed{4});
  const auto reference = model::make_reference_policy(shape);
  reference->set_graphs(task->spec().graphs);
  reference->set_parameters(parameters);

  TrainedAgent policy(shape, parameters, task->spec().graphs);
  env::PartitioningEnv environment(task);
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
  const auto task = make_task();
  const auto shape = model::make_shape(config().network, task->spec());
  const auto parameters = model::random_parameters(shape, Seed{4});
  HeldOutEvaluator evaluator(task, shape, Seed{1}, 3);
  const std::vector<double> score = evaluator.score(parameters).value();
  static_cast<void>(evaluator.score(model::random_parameters(shape, Seed{6})));
  CHECK(evaluator.score(parameters).value() == score);

  const NamedPolicy trained{
      "trained",
      [&] { return std::make_unique<TrainedAgent>(shape, parameters, task->spec().graphs); }};
  const auto result = evaluate(*task, {trained}, tuning_seeds(Seed{1}, 3), 1);
  REQUIRE(score.size() == task->spec().metrics.size());
  CHECK(mean_interval(result.policies[0], 0).mean == Approx(score[0]));
  CHECK(mean_interval(result.policies[0], 4).mean == Approx(score[4]));

  const auto baselines = evaluator.score_baselines([] { return true; });
  REQUIRE(baselines);
  CHECK(std::ranges::is_sorted(*baselines, {}, &HeldOutEvaluator::ScoredBaseline::score));
  for (const char* name : {"constant:1", "constant:2", "constant:4", "para_max", "random"}) {
    INFO(name);
    const auto found = std::ranges::find(*baselines, name, &HeldOutEvaluator::ScoredBaseline::name);
    REQUIRE(found != baselines->end());
    const auto other = evaluate(*task, {heuristic(name)}, tuning_seeds(Seed{1}, 3), 1);
    CHECK(found->score == mean_interval(other.policies[0], 0).mean);
  }
  CHECK_FALSE(evaluator.score_baselines([] { return false; }));

  HeldOutEvaluator none(task, shape, Seed{1}, 0);
  CHECK(std::isnan(none.score(parameters).value().front()));

  int steps = 0;
  CHECK_FALSE(evaluator.score(parameters, [&] { return ++steps < 30; }));
  CHECK(steps == 30);  // it was asked before each
}

TEST_CASE("lists of policies are split at commas; none at all means every baseline",
          "[unit][evaluation]") {
  using Names = std::vector<std::string>;
  CHECK(split_names({"a,b", "c"}, *make_task()) == Names{"a", "b", "c"});
  const Names all = split_names({}, *make_task());
  CHECK(all.size() >= 6);
  CHECK(split_names({"baselines"}, *make_task()) == all);
}

TEST_CASE("an empty name of a policy is refused", "[unit][evaluation]") {
  for (const std::string list : {"", ",", "a,", ",a", "a,,b"}) {
    INFO(list);
    CHECK_THROWS_WITH(split_names({list}, *make_task()), "--policy " + list + ": a name is empty");
  }
}

TEST_CASE("a comma in the name of a run does not split it", "[unit][evaluation]") {
  using Names = std::vector<std::string>;
  const testing::TempDir folder;
  const std::string run = (folder / "lr=1,seed=2").string();
  std::filesystem::create_directory(run);
  CHECK(split_names({run}, *make_task()) == Names{run});
  CHECK(split_names({"a," + run + ",b", run}, *make_task()) == Names{"a", run, "b", run});
  CHECK(split_names({run + "0"}, *make_task()).size() == 2);  // which is not there
}

TEST_CASE("settings of a search end where the next policy begins", "[unit][evaluation]") {
  using Names = std::vector<std::string>;
  const testing::TempDir folder;
  const std::string run = (folder / "lr=1").string();
  std::filesystem::create_directory(run);
  const auto split = [](const Names& lists) { return split_names(lists, *make_task()); };
  CHECK(split({run + "+search:K=4,H=2,gap=0.3"}) == Names{run + "+search:K=4,H=2,gap=0.3"});
  CHECK(split({run + "+search:K=4," + run}) == Names{run + "+search:K=4", run});
  CHECK(split({run + "+search:K=4", run}) == Names{run + "+search:K=4", run});
  CHECK(split({run + "+search:K=4", "H=2"}).size() == 2);  // another list is another policy
}

TEST_CASE("an evaluation ends when it is asked to, and tells how far it is", "[unit][evaluation]") {
  std::stop_source stop;
  std::vector<std::size_t> told;
  const EvaluationWatch watch{stop.get_token(), [&](std::size_t done, std::size_t all) {
                                told.push_back(done);
                                CHECK(all == 30);
                                if (done == 3) stop.request_stop();
                              }};
  static_cast<void>(
      evaluate(*make_task(), {heuristic("para_max")}, evaluation_seeds(Seed{1}, 30), 1, watch));
  CHECK(told == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("held-out episodes can be named from any number on", "[unit][evaluation]") {
  const auto all = evaluation_seeds(Seed{1}, 5);
  CHECK(evaluation_seeds(Seed{1}, 2, 3) == std::vector<Seed>(all.begin() + 3, all.end()));
}

TEST_CASE("every baseline can be named, and a wrong name is corrected", "[unit][evaluation]") {
  const auto policies = name_policies(split_names({}, *make_task()), make_task(), Seed{1}, 1);
  CHECK(policies.size() == split_names({}, *make_task()).size());
  for (const auto& policy : policies) CHECK(policy.make() != nullptr);

  const auto tuned = name_policies({"best_constant"}, make_task(), Seed{1}, 1);
  const auto best =
      tuned_baseline(make_task(), {"constant:1", "constant:2", "constant:4"}, Seed{1}, 5, 1);
  CHECK(tuned[0].name == "best_" + best);

  CHECK_THROWS_WITH(name_policies({"best_constnat"}, make_task(), Seed{1}, 1),
                    "there is no policy and no run folder \"best_constnat\"; did you mean "
                    "'best_constant'?");
  CHECK_THROWS_WITH(name_policies({"nothing_like_it"}, make_task(), Seed{1}, 1),
                    "there is no policy and no run folder \"nothing_like_it\"; pacml eval CONFIG "
                    "--list tells the task's own");
  CHECK_THROWS_AS(name_policies({"constant:x"}, make_task(), Seed{1}, 1), UserError);
}

TEST_CASE("a search takes the baseline that a name stands for", "[unit][evaluation]") {
  const auto task = make_task();
  const std::string best = name_policies({"best_constant"}, task, Seed{1}, 1).front().name;
  const std::string constant = best.substr(std::string("best_").size());
  const std::string search = "+search:K=2,H=2";
  const auto policies =
      name_policies({"best_constant" + search, constant + search}, task, Seed{1}, 1);
  CHECK(policies[0].name == best + search);
  CHECK(policies[1].name == constant + search);
  CHECK_FALSE(policies[0].learned);
  const EvalResult result = evaluate(*task, policies, evaluation_seeds(Seed{1}, 2), 1);
  for (std::size_t i = 0; i < 2; ++i) {
    const EpisodeRecord& named = result.policies[0].seeds[i].episode;
    const EpisodeRecord& spelt = result.policies[1].seeds[i].episode;
    CHECK(named.episode_return == spelt.episode_return);
    CHECK(named.metrics[0] == spelt.metrics[0]);
  }
  CHECK_THROWS_WITH(name_policies({"best_constant+search:K=x"}, task, Seed{1}, 1),
                    "search: K=x is no number");
}

TEST_CASE(
    "a search behind expert iteration measures what its labels were relative to, and no other",
    "[unit][evaluation]") {
  const testing::TempDir folder;
  const auto measures = [&](AlgorithmKind algorithm, bool centred) {
    TrainConfig config = testing::cluster_config();
    config.algorithm = algorithm;
    config.expert.centre_rewards = config.ppo.centre_rewards = centred;
    const auto run = folder / (std::string(name_of(algorithm)) + (centred ? "_centred" : ""));
    testing::write_random_run(run, config, 3, {{"mean", 0}, {"mean_square", 1}, {"weight", 1}});
    const env::TaskPtr task = config.env.make();
    const auto agent = search_agent(load_trained_run(run, task->spec()), *task, "K=2,H=3,gap=inf");
    const auto environment = task->make_factory()();
    environment->reset(Seed{1});
    agent->reset(Seed{1});
    const double told = agent->reward_rate();
    for (int decision = 0; decision < 20; ++decision) {
      static_cast<void>(environment->step(agent->act(*environment)));
    }
    return agent->reward_rate() != told;
  };
  CHECK(measures(AlgorithmKind::kExpertIteration, true));
  CHECK_FALSE(measures(AlgorithmKind::kExpertIteration, false));
  CHECK_FALSE(measures(AlgorithmKind::kPpo, true));
}

TEST_CASE("rollouts over a rule are a search of which nothing is set", "[unit][evaluation]") {
  const auto task = make_task();
  const auto policies =
      name_policies({"rollout:min_feasible", "min_feasible+search"}, task, Seed{1}, 1);
  CHECK(policies[0].name == "rollout:min_feasible");
  CHECK_FALSE(policies[0].learned);
  const auto of_rollouts = policies[0].make();
  const auto of_search = policies[1].make();
  const auto* rollouts = dynamic_cast<const planning::SearchAgent*>(of_rollouts.get());
  const auto* search = dynamic_cast<const planning::SearchAgent*>(of_search.get());
  REQUIRE(rollouts != nullptr);
  REQUIRE(search != nullptr);
  env::PartitioningEnv environment(task);
  environment.reset(Seed{5});
  of_rollouts->reset(Seed{8});
  of_search->reset(Seed{8});
  std::size_t compared = 0;
  for (int decision = 0; decision < 3; ++decision) {
    INFO("decision " << decision);
    const int action = of_rollouts->act(environment);
    CHECK(of_search->act(environment) == action);
    REQUIRE(search->tried().size() == rollouts->tried().size());
    for (std::size_t i = 0; i < rollouts->tried().size(); ++i) {
      CHECK(search->tried()[i].action == rollouts->tried()[i].action);
      CHECK(search->tried()[i].value == rollouts->tried()[i].value);
      CHECK(search->tried()[i].futures == rollouts->tried()[i].futures);
      ++compared;
    }
    static_cast<void>(environment.step(action));
  }
  CHECK(compared >= 2);
}

TEST_CASE("rollouts are over whatever a rule's name stands for, and may be refined",
          "[unit][evaluation]") {
  const auto named = [](const std::string& name, const env::TaskPtr& task) {
    return name_policies({name}, task, Seed{1}, 1).front().name;
  };
  CHECK(named("rollout:constant:2", make_task()) == "rollout:constant:2");
  CHECK(named("rollout:best_constant", make_task()) ==
        "rollout:" + named("best_constant", make_task()));
  CHECK(named("rollout:heft", placing_task()) == "rollout:heft");
  CHECK(named("rollout:heft+refine:1", placing_task()) == "rollout:heft+refine:1");
}

TEST_CASE("what cannot be rolled out is refused with what to write", "[unit][evaluation]") {
  const testing::TempDir folder;
  const std::string run = (folder / "run").string();
  testing::write_random_run(run, config(), 3);
  const auto refusal = [](const std::string& name) -> std::string {
    try {
      static_cast<void>(name_policies({name}, make_task(), Seed{1}, 1));
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refusal("rollout:" + run) ==
        "rollout:" + run + ": rollout:RULE is over a rule; of a run write " + run + "+search");
  CHECK_THAT(refusal("rollout:" + run + "+sample"),
             Catch::EndsWith("of a run write " + run + "+search"));
  for (const std::string& written : {run + "+search:K=2", std::string("constant:2+search"),
                                     std::string("constant:2+search:K=2,H=2")}) {
    CHECK(refusal("rollout:" + written) ==
          "rollout:" + written + ": rollout:RULE takes no settings; write " + written);
  }
  CHECK(refusal("rollout:constant:2+sample") ==
        "rollout:constant:2+sample: only the policy of a run can be sampled");
  for (const std::string bare : {"rollout", "rollout:"}) {
    CHECK(refusal(bare) ==
          "rollout:RULE needs a rule; pacml eval CONFIG --list tells the task's own");
  }
  CHECK(refusal("rollout:para_mx") ==
        "there is no rule \"para_mx\" to roll out; did you mean 'rollout:para_max'?");
  CHECK(refusal("rollout:nothing_like_it") ==
        "there is no rule \"nothing_like_it\" to roll out; pacml eval CONFIG --list tells the "
        "task's own");
  CHECK(refusal("rollout:constant:x") == refusal("constant:x"));
}

TEST_CASE("a folder whose name begins as rollouts do is a run", "[unit][evaluation]") {
  const testing::TempDir folder;
  testing::write_random_run(folder / "rollout:constant:2", config(), 3);
  const std::filesystem::path here = std::filesystem::current_path();
  const ScopeExit back([&here] { std::filesystem::current_path(here); });
  std::filesystem::current_path(folder.path());
  for (const std::string name : {"rollout:constant:2", "rollout:constant:2+sample"}) {
    const auto policy = name_policies({name}, make_task(), Seed{1}, 1).front();
    CHECK(policy.name == name);
    CHECK(policy.learned);
  }
}

TEST_CASE("what several policies begin with is chosen on tuning episodes once",
          "[unit][evaluation]") {
  const auto tuning_episodes_of = [](const std::vector<std::string>& names) {
    int played = 0;
    const EvaluationWatch watch{{}, [&played](std::size_t, std::size_t) { ++played; }};
    static_cast<void>(name_policies(names, make_task(), Seed{1}, 1, watch));
    return played;
  };
  const int once = tuning_episodes_of({"best_constant"});
  CHECK(once > 0);
  CHECK(tuning_episodes_of({"best_constant+search:K=2,H=2", "random", "best_constant",
                            "best_constant+search:K=4,H=2", "rollout:best_constant"}) == once);
}

}  // namespace
}  // namespace pacml::apps

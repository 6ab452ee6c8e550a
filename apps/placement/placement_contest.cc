#include "apps/placement/placement_contest.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "apps/evaluation/policy_list.h"
#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "common/config/reader.h"
#include "common/result.h"
#include "env/placement/list_schedule.h"
#include "env/placement/min_cut.h"
#include "env/tasks/device_placement/environment.h"

namespace pacml::apps {
namespace {

// Simulations of an operation each that a baseline may take: a second or two.
constexpr std::int64_t kMostWork = 10'000'000;
// Of list schedules, each of which takes less than a simulated operation.
constexpr std::int64_t kMostLooks = 10 * kMostWork;
constexpr int kRandomPlacements = 100;

env::DevicePlacementConfig config_of_run(const std::string& run) {
  const auto folder = RunDirectory::open(run);
  const auto config = read_config<TrainConfig>(ConfigSource::from_file(folder.config_file()));
  if (!config.env.is_of<env::DevicePlacementConfig>()) {
    throw UserError(run + " was trained for the task " + config.env.task() +
                    ", and this one is device_placement");
  }
  return config.env.as<env::DevicePlacementConfig>();
}

// In operations: where outputs or devices are many, keeping account of copies is most of it.
std::int64_t work_of_simulation(const env::PlacementProblem& problem) {
  constexpr std::size_t kCopiesOfOperation = 16;
  const std::size_t copies = problem.graph->num_outputs() * problem.num_devices();
  return static_cast<std::int64_t>(std::max(problem.graph->num_ops(), copies / kCopiesOfOperation));
}

}  // namespace

PlacementContest::PlacementContest(env::PlacementProblemPtr problem)
    : problem_(problem), evaluator_(std::move(problem)) {}

void PlacementContest::add(std::string name, env::GroupPlacement placement,
                           std::int64_t simulations) {
  add({.name = std::move(name),
       .device_of_group = std::move(placement),
       .simulations = simulations});
}

void PlacementContest::add(PlacementEntry entry) {
  entry.penalised_s = evaluator_.runtime_s(entry.device_of_group);
  env::PlacementSimulator& run = evaluator_.simulator();
  entry.runtime_s = run.runtime_us() / 1e6;
  if (problem_->is_limited()) {
    entry.over_gb = problem_->over_limit_bytes(run.peak_bytes()) / 1e9;
  }
  const auto behind =
      std::ranges::upper_bound(entries_, entry.penalised_s, {}, &PlacementEntry::penalised_s);
  entries_.insert(behind, std::move(entry));
}

env::PlacementSimulator& PlacementContest::simulate(const PlacementEntry& entry) {
  static_cast<void>(evaluator_.runtime_s(entry.device_of_group));
  return evaluator_.simulator();
}

void PlacementContest::add_baselines() {
  const env::PlacementProblem& problem = *problem_;
  add("single", env::place_on_one(problem, env::best_single_device(problem)),
      static_cast<std::int64_t>(problem.num_devices()));
  add("level", env::place_by_level(problem), 0);
  add("contiguous", env::place_contiguously(problem), 0);
  add("min_cut", env::place_by_min_cut(problem), 0);
  for (const auto& [name, rule] :
       {std::pair("heft", env::ListRule::kHeft), std::pair("etf", env::ListRule::kEtf)}) {
    if (auto found = env::list_schedule_within(problem, rule, kMostLooks)) {
      add(name, *std::move(found), 0);
    } else {
      left_out_.emplace_back(name);
    }
  }

  const std::int64_t work = work_of_simulation(problem);
  const auto groups = static_cast<std::int64_t>(problem.num_groups());
  const auto devices = static_cast<std::int64_t>(problem.num_devices());
  env::GroupPlacement best_drawn;
  double best_s = 0;
  const auto draws =
      static_cast<int>(std::clamp<std::int64_t>(kMostWork / work, 1, kRandomPlacements));
  for (env::GroupPlacement& drawn : env::random_placements(problem, draws, 7)) {
    const double runtime = evaluator_.runtime_s(drawn);
    if (!best_drawn.empty() && runtime >= best_s) continue;
    best_drawn = std::move(drawn);
    best_s = runtime;
  }
  add("best of " + std::to_string(draws) + " random", std::move(best_drawn), draws);

  if (groups * (devices - 1) <= kMostWork / work) {
    const std::int64_t before = evaluator_.num_simulations();
    auto found = env::descend(evaluator_, env::place_on_one(problem, 0), 1);
    add("descent", std::move(found.device_of_group), evaluator_.num_simulations() - before);
  } else {
    left_out_.emplace_back("descent");
  }
  const std::int64_t before = evaluator_.num_simulations();
  if (auto found = env::enumerate(evaluator_, kMostWork / work)) {
    add("exact", std::move(found->device_of_group), evaluator_.num_simulations() - before);
  }
}

void PlacementContest::add_policy(const std::string& run, const std::string& graph,
                                  const std::string& devices,
                                  const std::function<void(std::size_t, std::size_t)>& progress) {
  env::DevicePlacementConfig config = config_of_run(run);
  config.families.clear();
  config.profiles.clear();
  config.models.clear();
  config.graphs = {graph};
  config.devices = {devices};
  config.penalty = problem_->penalty;
  const auto task = std::make_shared<const env::DevicePlacementTask>(config);
  const auto policy = name_policies({run}, task, Seed{0}, 1).front();
  const auto agent = policy.make();
  env::DevicePlacementEnv environment(task, std::make_shared<env::PlacementEvaluators>());
  environment.reset(Seed{0});
  agent->reset(Seed{0});
  const std::size_t decisions = problem_->num_groups() * static_cast<std::size_t>(config.rounds);
  bool is_over = false;
  for (std::size_t made = 1; !is_over; ++made) {
    is_over = environment.step(agent->act(environment)).final();
    progress(made, decisions);
  }
  constexpr std::size_t kSimulations = 3;  // of the task's metrics
  add({.name = run,
       .device_of_group = environment.placement(),
       .simulations = static_cast<std::int64_t>(environment.summary().metrics[kSimulations]),
       .learned = true});
}

std::vector<env::FoundPlacement::Improvement> PlacementContest::search(std::int64_t simulations,
                                                                       std::uint64_t seed) {
  const auto learned = std::ranges::find(entries_, true, &PlacementEntry::learned);
  const PlacementEntry start = learned == entries_.end() ? best() : *learned;
  const std::int64_t before = evaluator_.num_simulations();
  auto found = env::improve(evaluator_, start.device_of_group, simulations, seed);
  add({.name = start.name + " + search",
       .device_of_group = std::move(found.device_of_group),
       .simulations = start.simulations + evaluator_.num_simulations() - before});
  return found.improvements;
}

}  // namespace pacml::apps

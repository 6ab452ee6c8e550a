#include "env/tasks/device_placement/baselines.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/read_number.h"
#include "common/result.h"
#include "env/placement/list_schedule.h"
#include "env/placement/min_cut.h"
#include "env/placement/placement_search.h"
#include "env/placement/placing_rest.h"
#include "env/tasks/device_placement/environment.h"

namespace pacml::env {
namespace {

const DevicePlacementEnv& placing(const Environment& environment) {
  const auto* env = dynamic_cast<const DevicePlacementEnv*>(&environment);
  PACML_CHECK(env != nullptr, "an agent of another task");
  return *env;
}

// Plans the whole when an episode begins, or turns out to be about another problem: who plays
// without saying so must not get a plan for other groups.
class PlanningAgent final : public Agent {
 public:
  using Plan = std::function<GroupPlacement(PlacementEvaluator&, std::uint64_t seed)>;
  using PlanFrom =
      std::function<GroupPlacement(PlacementEvaluator&, const DevicePlacementEnv&, Seed)>;
  explicit PlanningAgent(PlanFrom plan) : plan_(std::move(plan)) {}
  explicit PlanningAgent(Plan plan)
      : plan_([plan = std::move(plan)](PlacementEvaluator& evaluator, const DevicePlacementEnv&,
                                       Seed seed) { return plan(evaluator, seed.get()); }) {}

  void reset(Seed seed) override {
    seed_ = seed;
    planned_for_.reset();
  }
  [[nodiscard]] int act(const Environment& environment) override {
    const DevicePlacementEnv& env = placing(environment);
    if (planned_for_ != env.problem().problem) {
      planned_for_ = env.problem().problem;
      PlacementEvaluator evaluator(planned_for_);
      planned_ = plan_(evaluator, env, seed_);
    }
    return planned_[env.group()];
  }

 private:
  PlanFrom plan_;
  Seed seed_{};
  PlacementProblemPtr planned_for_;
  GroupPlacement planned_;
};

// Where the whole would run fastest, all others being where they are; of equals, where it is, then
// the lowest.
class DescentAgent final : public Agent {
 public:
  [[nodiscard]] int act(const Environment& environment) override {
    const DevicePlacementEnv& env = placing(environment);
    PlacementEvaluator& evaluator = evaluators_.of(env.problem().problem);
    const auto runtimes =
        evaluator.runtimes_if_moved(env.placement(), env.group(), env.runtime_s());
    return best_device(runtimes, env.placement()[env.group()]);
  }

 private:
  PlacementEvaluators evaluators_;
};

GroupPlacement annealed(PlacementEvaluator& evaluator, std::int64_t simulations,
                        std::uint64_t seed) {
  const auto start = place_on_one(evaluator.problem(), best_single_device(evaluator.problem()));
  return anneal(evaluator, start, simulations, seed).device_of_group;
}

GroupPlacement best_of_all(PlacementEvaluator& evaluator) {
  constexpr std::int64_t kMost = 1 << 22;  // placements: some seconds
  if (auto found = enumerate(evaluator, kMost)) return std::move(found->device_of_group);
  throw UserError("exact: " + std::to_string(evaluator.problem().num_groups()) + " groups on " +
                  std::to_string(evaluator.problem().num_devices()) +
                  " devices have too many placements to try them all; at most " +
                  std::to_string(kMost) + " are");
}

// Where the groups are when the agent has played the episode to its end.
GroupPlacement placement_by(Agent& agent, const DevicePlacementEnv& begun, Seed seed) {
  DevicePlacementEnv played = begun;
  agent.reset(seed);
  while (!played.step(agent.act(played)).final()) {
  }
  return played.placement();
}

struct Rule {
  Baseline baseline;
  PlanningAgent::Plan plan;
};

const std::vector<Rule>& rules() {
  const auto plain = [](auto place) -> PlanningAgent::Plan {
    return [place](PlacementEvaluator& e, std::uint64_t) { return place(e.problem()); };
  };
  static const std::vector<Rule> list = {
      {{"heft", "list scheduling by upward rank, with insertion", true, {}},
       plain([](const PlacementProblem& p) { return list_schedule(p, ListRule::kHeft); })},
      {{"etf", "list scheduling by earliest start, with memory", true, {}},
       plain([](const PlacementProblem& p) { return list_schedule(p, ListRule::kEtf); })},
      {{"list_best", "the better of heft and etf for each graph", true, {}},
       [](PlacementEvaluator& e, std::uint64_t) { return better_list_schedule(e); }},
      {{"contiguous", "pieces of equal work of the topological order", true, {}},
       plain(place_contiguously)},
      {{"level", "groups of one depth in turns", true, {}}, plain(place_by_level)},
      {{"single", "everything on the best single device", true, {}},
       plain([](const PlacementProblem& p) { return place_on_one(p, best_single_device(p)); })},
      // Not compared unasked: a learner would play it, too, and must mind signals (min_cut.h).
      {{"min_cut", "pieces of equal work between which few bytes go", false, {}},
       plain(place_by_min_cut)},
      {{"exact", "the best of all placements, of a graph that is small", false, {}},
       [](PlacementEvaluator& e, std::uint64_t) { return best_of_all(e); }},
      {{"pilot", "where the whole runs fastest with the rest placed by earliest end", false, {}},
       [](PlacementEvaluator& e, std::uint64_t) { return place_by_pilot(e); }},
      {{"random", "anywhere", true, {}},
       [](PlacementEvaluator& e, std::uint64_t seed) {
         return random_placements(e.problem(), 1, seed).front();
       }},
  };
  return list;
}

constexpr std::string_view kDescent = "descent";
constexpr std::string_view kAnneal = "anneal";
constexpr std::int64_t kMostSimulations = 10'000'000;

std::int64_t simulations_of(std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return 2000;
  const auto count = read_number<std::int64_t>(name.substr(colon + 1));
  if (!count || *count < 1 || *count > kMostSimulations) {
    throw UserError(std::string(name) + ": needs a number of simulations, e.g. anneal:2000");
  }
  return *count;
}

}  // namespace

std::vector<Baseline> device_placement_baselines() {
  std::vector<Baseline> list;
  for (const Rule& rule : rules()) list.push_back(rule.baseline);
  list.push_back({std::string(kDescent), "where the whole runs fastest at each step", true, {}});
  list.push_back(
      {std::string(kAnneal), "simulated annealing, e.g. anneal:2000 simulations", false, {}});
  return list;
}

std::unique_ptr<Agent> make_refined_agent(std::unique_ptr<Agent> agent,
                                          std::optional<std::int64_t> simulations) {
  PACML_CHECK(!simulations || *simulations >= 1, "a search with simulations");
  const auto plan = [agent = std::shared_ptr<Agent>(std::move(agent)), simulations](
                        PlacementEvaluator& evaluator, const DevicePlacementEnv& env, Seed seed) {
    const PlacementProblem& problem = evaluator.problem();
    const auto as_many = static_cast<std::int64_t>(problem.num_groups() * problem.num_devices());
    const GroupPlacement start = placement_by(*agent, env, seed);
    return improve(evaluator, start, simulations.value_or(as_many), seed.get()).device_of_group;
  };
  return std::make_unique<PlanningAgent>(PlanningAgent::PlanFrom(plan));
}

std::unique_ptr<Agent> make_device_placement_agent(std::string_view name) {
  if (name == kDescent) return std::make_unique<DescentAgent>();
  if (name.substr(0, name.find(':')) == kAnneal) {
    return std::make_unique<PlanningAgent>(
        [simulations = simulations_of(name)](PlacementEvaluator& e, std::uint64_t seed) {
          return annealed(e, simulations, seed);
        });
  }
  for (const Rule& rule : rules()) {
    if (rule.baseline.name == name) return std::make_unique<PlanningAgent>(rule.plan);
  }
  throw no_such_baseline(name, device_placement_baselines());
}

}  // namespace pacml::env

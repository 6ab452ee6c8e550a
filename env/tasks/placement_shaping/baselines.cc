#include "env/tasks/placement_shaping/baselines.h"

#include <algorithm>
#include <optional>
#include <string>

#include "common/check.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/text.h"
#include "env/tasks/placement_shaping/environment.h"

namespace pacml::env {
namespace {

using Candidate = PlacementShapingEnv::Candidate;

// Chooses among the candidates of one degree, or of the degree that a rule has chosen.
class PlacementAgent : public Agent {
 public:
  explicit PlacementAgent(std::optional<int> degree) : degree_(degree) {}

  [[nodiscard]] int act(const Environment& environment) final {
    const auto* shaping = dynamic_cast<const PlacementShapingEnv*>(&environment);
    PACML_CHECK(shaping != nullptr, "the rules of placement shaping decide about nothing else");
    std::vector<int> eligible;
    const auto candidates = shaping->candidates();
    for (std::size_t a = 1; a < candidates.size(); ++a) {
      if (!degree_ || candidates[a].degree == *degree_) eligible.push_back(static_cast<int>(a));
    }
    return eligible.empty() ? 0 : choose(*shaping, eligible);
  }

 private:
  // One of `eligible`, of which there is at least one, first fit first where it is among them.
  [[nodiscard]] virtual int choose(const PlacementShapingEnv& environment,
                                   const std::vector<int>& eligible) = 0;

  std::optional<int> degree_;
};

class FirstFit final : public PlacementAgent {
 public:
  using PlacementAgent::PlacementAgent;

 private:
  int choose(const PlacementShapingEnv& /*environment*/,
             const std::vector<int>& eligible) override {
    return eligible.front();
  }
};

class LastFit final : public PlacementAgent {
 public:
  using PlacementAgent::PlacementAgent;

 private:
  int choose(const PlacementShapingEnv& /*environment*/,
             const std::vector<int>& eligible) override {
    return eligible.back();
  }
};

class RandomFit final : public PlacementAgent {
 public:
  using PlacementAgent::PlacementAgent;
  void reset(Seed seed) override { rng_ = Rng(derive(seed, Purpose::kHeuristic, 0)); }

 private:
  int choose(const PlacementShapingEnv& /*environment*/,
             const std::vector<int>& eligible) override {
    return eligible[rng_.below(eligible.size())];
  }

  Rng rng_{Seed{0}};
};

class Fastest final : public PlacementAgent {
 public:
  using PlacementAgent::PlacementAgent;

 private:
  int choose(const PlacementShapingEnv& environment, const std::vector<int>& eligible) override {
    const auto candidates = environment.candidates();
    return *std::ranges::min_element(eligible, {}, [&](int a) {
      return candidates[static_cast<std::size_t>(a)].completion_time;
    });
  }
};

// Leaves the most blocks free, counted over every model and degree that a job may come with.
class BestFit final : public PlacementAgent {
 public:
  using PlacementAgent::PlacementAgent;

 private:
  int choose(const PlacementShapingEnv& environment, const std::vector<int>& eligible) override {
    int best = eligible.front();
    std::size_t most = 0;
    for (const int a : eligible) {
      const Candidate& candidate = environment.candidates()[static_cast<std::size_t>(a)];
      if (!candidate.execution) continue;
      ServerSet occupied = environment.cluster().occupied();
      occupied.insert(candidate.execution->servers);
      const std::size_t left = blocks_left(environment, occupied);
      if (left > most) {
        most = left;
        best = a;
      }
    }
    return best;
  }

  [[nodiscard]] static std::size_t blocks_left(const PlacementShapingEnv& environment,
                                               const ServerSet& occupied) {
    const auto& task = dynamic_cast<const PlacementShapingTask&>(environment.task());
    std::size_t left = 0;
    for (std::size_t model = 0; model < task.graphs().size(); ++model) {
      for (const int degree : task.degrees()) {
        for (const ServerSet& block : task.catalog()->blocks(static_cast<int>(model), degree)) {
          left += occupied.overlaps(block) ? 0U : 1U;
        }
      }
    }
    return left;
  }
};

struct Rule {
  std::string_view name;
  std::string_view description;
  std::unique_ptr<Agent> (*make)(std::optional<int> degree);
};

template <class Made>
std::unique_ptr<Agent> made(std::optional<int> degree) {
  return std::make_unique<Made>(degree);
}

constexpr Rule kRules[] = {
    {"first_fit", "the first free block, as RAMP itself does", made<FirstFit>},
    {"last_fit", "the last free block", made<LastFit>},
    {"best_fit", "the block that leaves most other blocks free", made<BestFit>},
    {"fastest", "where the job is done first", made<Fastest>},
    {"random", "any candidate but refusal, all equally likely", made<RandomFit>},
};

}  // namespace

std::vector<Baseline> placement_shaping_baselines(const PlacementShapingTask& task) {
  std::vector<Baseline> baselines;
  for (const Rule& rule : kRules) {
    const std::string name(rule.name);
    if (!task.config().joint) {
      baselines.push_back({name, std::string(rule.description), true, {}});
      continue;
    }
    baselines.push_back(
        {name, name + ":K: degree K, and " + std::string(rule.description), false, {}});
    Baseline best{
        "tuned_" + name, "the degree at which " + name + " does best on tuning episodes", true, {}};
    for (const int degree : task.degrees()) {
      best.best_of.push_back(name + ":" + std::to_string(degree));
    }
    baselines.push_back(std::move(best));
  }
  return baselines;
}

std::unique_ptr<Agent> make_placement_shaping_agent(std::string_view name,
                                                    const PlacementShapingTask& task) {
  const auto colon = name.find(':');
  const std::string_view base = name.substr(0, colon);
  const auto rule = std::ranges::find(kRules, base, &Rule::name);
  if (rule == std::end(kRules)) {
    std::vector<std::string> known;
    for (const Rule& each : kRules) known.emplace_back(each.name);
    throw UserError("there is no policy \"" + std::string(name) + "\"" + did_you_mean(base, known));
  }
  if (!task.config().joint) {
    if (colon == std::string_view::npos) return rule->make(std::nullopt);
    throw UserError("policy " + std::string(name) +
                    ": env.degree chooses the degree; a policy does where env.joint is true");
  }
  const std::string_view argument =
      colon == std::string_view::npos ? std::string_view{} : name.substr(colon + 1);
  const auto degree = read_number<int>(argument);
  if (!degree || *degree < 1) {
    throw UserError("policy " + std::string(name) + ": needs a degree, e.g. " + std::string(base) +
                    ":4");
  }
  if (std::ranges::find(task.degrees(), *degree) == task.degrees().end()) {
    throw UserError("policy " + std::string(name) + ": " + no_block_of(*degree, task.degrees()));
  }
  return rule->make(degree);
}

}  // namespace pacml::env

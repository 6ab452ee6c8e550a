#include "env/tasks/cluster_scheduling/baselines.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/text.h"
#include "env/tasks/cluster_scheduling/environment.h"

namespace pacml::env {
namespace {

const ClusterSchedulingEnv& scheduling(const Environment& environment) {
  const auto* env = dynamic_cast<const ClusterSchedulingEnv*>(&environment);
  PACML_CHECK(env != nullptr, "an agent of another task");
  return *env;
}

// Lets the rule take all decisions of an instant on a copy of the cluster, and repeats them.
class RuleAgent final : public Agent {
 public:
  explicit RuleAgent(const GpuRulesConfig& rules) : rules_(rules) {
    static_cast<void>(make_rule_scheduler(rules));  // a user's mistake shows here
  }

  void reset(Seed seed) override { seed_ = std::make_shared<const Seed>(seed); }

  [[nodiscard]] int act(const Environment& environment) override {
    const ClusterSchedulingEnv& env = scheduling(environment);
    ClusterSchedulingEnv::Plan& plan = env.plan_of(seed_);
    if (!is_followed(env, plan)) plan.placed = decide(env);
    plan.instant = env.instant();
    plan.decision = env.decisions();
    plan.job = -1;
    for (const GpuDecision& placed : *plan.placed) {
      const int scheduler = env.state().progress(placed.job).partition;
      const bool waits = env.state().progress(placed.job).status == GpuJobStatus::kWaiting;
      if (!waits || scheduler < env.agent()) continue;
      if (scheduler > env.agent()) break;
      plan.job = placed.job;
      return env.action_for(placed.job, placed.gpus);
    }
    return 0;  // it passes, or does the first thing where it must do something
  }

 private:
  // Whether what has been decided since is what was answered: else GPUs may be taken.
  static bool is_followed(const ClusterSchedulingEnv& env, const ClusterSchedulingEnv::Plan& plan) {
    if (plan.instant != env.instant()) return false;
    if (plan.decision == env.decisions()) return true;
    if (plan.decision + 1 != env.decisions()) return false;
    if (plan.job < 0) return true;  // nothing else was to come of that scheduler
    const auto planned = std::ranges::find(*plan.placed, plan.job, &GpuDecision::job);
    return env.last_job() == plan.job &&
           env.state().progress(plan.job).status == GpuJobStatus::kRunning &&
           env.state().layout(plan.job).gpus == planned->gpus;
  }

  [[nodiscard]] std::shared_ptr<const std::vector<GpuDecision>> decide(
      const ClusterSchedulingEnv& env) const {
    GpuRulesConfig rules = rules_;
    rules.seed = mix64(seed_->get() + static_cast<std::uint64_t>(env.instant()));
    const auto scheduler = make_rule_scheduler(rules);
    GpuClusterState copy = env.state();
    copy.set_queue_order(scheduler->queue_order());
    auto placed = std::make_shared<std::vector<GpuDecision>>();
    copy.record_to(placed.get());
    scheduler->decide(copy);
    return placed;
  }

  GpuRulesConfig rules_;
  // Plans are of who this belongs to, since its last reset.
  std::shared_ptr<const Seed> seed_ = std::make_shared<const Seed>();
};

// A rule with a threshold of sharing takes it as an argument.
struct Rule {
  Baseline baseline;
  GpuRulesConfig rules;
};

const std::vector<Rule>& rules() {
  constexpr CandidateRules kAlone = {.spread = false};
  constexpr CandidateRules kSharing = {.spread = false, .share = SharingRule::kFallback};
  using Order = ScheduleOrder;
  using Place = PlacementRule;
  static const std::vector<Rule> list = {
      {{"fifo_first_fit", "first in, first out; the first server with room", true, {}},
       {.order = Order::kFifo, .place = Place::kFirstFit}},
      {{"random", "first in, first out; anywhere", true, {}},
       {.place = Place::kRandom, .strict = false, .window = 64, .candidates = kSharing}},
      {{"load_balancing", "first in, first out; the emptiest server", true, {}},
       {.place = Place::kLeastLoaded, .strict = false, .window = 64, .candidates = kAlone}},
      {{"drf", "the user who has least; the fullest server", true, {}},
       {.order = Order::kDrf, .place = Place::kBestFit, .candidates = kAlone}},
      {{"tetris", "whose wants align best with what is left, and short ones", true, {}},
       {.order = Order::kTetris, .place = Place::kTetris, .window = 16, .candidates = kAlone}},
      {{"fifo_best_fit", "first in, first out; the fullest server", true, {}},
       {.place = Place::kBestFit, .strict = false, .window = 64, .candidates = kAlone}},
      {{"fifo_least_interference", "first in, first out; where it disturbs least", true, {}},
       {.place = Place::kLeastInterference, .strict = false, .window = 32, .candidates = kSharing}},
      {{"srtf_best_fit", "the shortest first; the fullest server", true, {}},
       {.order = Order::kSrtf,
        .place = Place::kBestFit,
        .strict = false,
        .window = 64,
        .candidates = kAlone}},
      {{"srsf_best_fit", "the least GPU time first; the fullest server", true, {}},
       {.order = Order::kSrsf,
        .place = Place::kBestFit,
        .strict = false,
        .window = 64,
        .candidates = kAlone}},
      {{"srtf_least_interference",
        "the shortest first; where it disturbs least, e.g. :1.4 to share"
        " only where both speeds add up to that",
        true,
        {}},
       {.order = Order::kSrtf,
        .place = Place::kLeastInterference,
        .strict = false,
        .window = 32,
        .candidates = kSharing}},
      {{"srtf_least_delay", "the shortest first; where it delays least, e.g. :1.4", true, {}},
       {.order = Order::kSrtf,
        .place = Place::kLeastDelay,
        .strict = false,
        .window = 32,
        .candidates = kSharing}},
  };
  return list;
}

double gain_of(std::string_view name, std::string_view argument) {
  const auto gain = read_number<double>(argument);
  if (!gain || !(*gain >= 0 && *gain <= 1e6)) {
    throw UserError(std::string(name) + ": needs a sum of two speeds, e.g. 1.4");
  }
  return *gain;
}

}  // namespace

std::vector<Baseline> cluster_scheduling_baselines() {
  std::vector<Baseline> list;
  for (const Rule& rule : rules()) list.push_back(rule.baseline);
  return list;
}

std::unique_ptr<Agent> make_rule_agent(const GpuRulesConfig& rules) {
  if (rules.order == ScheduleOrder::kAgent) {
    throw UserError("order: agents of a rule decide for all schedulers, and this one is for each");
  }
  if (rules.preempt) throw UserError("preempt: nothing is pre-empted in this task");
  return std::make_unique<RuleAgent>(rules);
}

std::unique_ptr<Agent> make_cluster_scheduling_agent(std::string_view name) {
  const std::string_view plain = name.substr(0, name.find(':'));
  for (const Rule& rule : rules()) {
    if (rule.baseline.name != plain) continue;
    GpuRulesConfig config = rule.rules;
    if (plain.size() < name.size()) {
      if (config.candidates.share == SharingRule::kNever) {
        throw UserError(std::string(plain) + " takes no argument");
      }
      config.candidates.gain = gain_of(name, name.substr(plain.size() + 1));
    }
    return make_rule_agent(config);
  }
  std::vector<std::string> names;
  for (const Baseline& known : cluster_scheduling_baselines()) names.push_back(known.name);
  throw UserError("there is no baseline \"" + std::string(name) + "\"" + did_you_mean(name, names));
}

}  // namespace pacml::env

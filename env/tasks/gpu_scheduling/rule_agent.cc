#include "env/tasks/gpu_scheduling/rule_agent.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/rng.h"
#include "env/tasks/gpu_scheduling/environment.h"

namespace pacml::env {
namespace {

// Lets the rule take all decisions of an instant on a copy of the cluster, and repeats them.
class RuleAgent final : public Agent {
 public:
  explicit RuleAgent(const GpuRulesConfig& rules) : rules_(rules) {
    static_cast<void>(make_rule_scheduler(rules));  // a user's mistake shows here
  }

  void reset(Seed seed) override { seed_ = std::make_shared<const Seed>(seed); }

  [[nodiscard]] int act(const Environment& environment) override {
    const GpuSchedulingEnv& env = scheduling_env(environment);
    GpuSchedulingEnv::Plan& plan = env.plan_of(seed_);
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
  static bool is_followed(const GpuSchedulingEnv& env, const GpuSchedulingEnv::Plan& plan) {
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
      const GpuSchedulingEnv& env) const {
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

}  // namespace

std::unique_ptr<Agent> make_rule_agent(const GpuRulesConfig& rules) {
  if (rules.order == ScheduleOrder::kAgent) {
    throw UserError("order: agents of a rule decide for all schedulers, and this one is for each");
  }
  if (rules.preempt) throw UserError("preempt: nothing is pre-empted in this task");
  return std::make_unique<RuleAgent>(rules);
}

}  // namespace pacml::env

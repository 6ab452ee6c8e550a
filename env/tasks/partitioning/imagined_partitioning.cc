#include "env/tasks/partitioning/imagined_partitioning.h"

#include <limits>
#include <utility>
#include <vector>

#include "common/check.h"
#include "env/tasks/ramp/degree_rule.h"
#include "env/tasks/ramp/rewards.h"

namespace pacml::env {

struct ImaginedPartitioning::Shared {
  std::shared_ptr<const PartitioningTask> task;
  PoolRanges ranges;
  // Scratch.
  DegreeObservation observation;
  std::vector<std::uint8_t> mask;
};

ImaginedPartitioning::ImaginedPartitioning(const std::shared_ptr<const PartitioningTask>& task,
                                           PlanningCluster cluster, const PoolRanges& ranges,
                                           const RecentArrivals& recent)
    : shared_(std::make_shared<Shared>(
          Shared{task, ranges, DegreeObservation(*task),
                 std::vector<std::uint8_t>(static_cast<std::size_t>(task->spec().num_actions()))})),
      cluster_(std::move(cluster)),
      recent_(recent) {
  PACML_CHECK(!depends_on_throughput(task->config().reward.kind),
              "a reward for what becomes of the job");
}

const EnvironmentSpec& ImaginedPartitioning::spec() const { return shared_->task->spec(); }

void ImaginedPartitioning::reset(Seed /*seed*/) {
  PACML_CHECK(false, "what is imagined begins no episode");
}

bool ImaginedPartitioning::takes(int action) const {
  return action >= 0 && action < spec().num_actions() && may_choose_degree(cluster_, action);
}

StepResult ImaginedPartitioning::step(int action) {
  PACML_CHECK(cluster_.waits() && !cluster_.finished(), "the episode is over");
  PACML_CHECK(action >= 0 && action < spec().num_actions(), "no such action");
  const PartitioningConfig& config = shared_->task->config();
  JobDecision decision{.degree = action};
  if (!takes(action)) {
    PACML_CHECK(!config.apply_action_mask, "the action is masked");
    decision = {};
  }
  const Job job = cluster_.waiting_job();
  const PlanningCluster::Outcome outcome = cluster_.decide(decision);
  const double value = reward_of(job, outcome);

  StepResult result;
  result.reward = static_cast<float>(value);
  return_ += value;
  ++decisions_;
  if (cluster_.finished()) {
    if (cluster_.out_of_time() && config.time_limit == TimeLimit::kTruncated) {
      cluster_.pass_limit();
      result.truncated = cluster_.waits();
    }
    result.terminated = !result.truncated;
  }
  terminated_ = result.terminated;
  if (cluster_.waits()) {
    recent_.add(cluster_.waiting_job().fraction, cluster_.waiting_job().arrived);
  }
  return result;
}

double ImaginedPartitioning::reward_of(const Job& job,
                                       const PlanningCluster::Outcome& outcome) const {
  const PartitioningConfig& config = shared_->task->config();
  // What is nearly always asked for has no need of the rest.
  if (config.reward.kind == RewardKind::kJobAcceptance) {
    return acceptance_reward(config.reward, outcome.cause);
  }
  const ExecutionMemo& memo = cluster_.memo();
  JobOutcome what{std::nullopt, outcome.cause};
  if (outcome.cause == BlockCause::kNone) {
    what.mounted.emplace();
    what.mounted->completion_time = outcome.completion_time;
    what.mounted->sequential_time = outcome.sequential_time;
  }
  static const ClusterStepStats kNothing;
  return finite_reward(config.reward,
                       {job, what, kNothing, shared_->ranges, memo.topology().num_servers(),
                        memo.communication().channel_bandwidth(), config.ramp.num_channels},
                       memo.graphs()[static_cast<std::size_t>(job.model)]->model());
}

void ImaginedPartitioning::observe(Observations& out) const {
  PACML_CHECK(!terminated_, "nobody decides any more");
  shared_->observation.look_at(cluster_, shared_->ranges, recent_);
  shared_->observation.write(out);
}

std::span<const std::uint8_t> ImaginedPartitioning::mask() const {
  write_degree_mask(cluster_, shared_->mask);
  return shared_->mask;
}

std::unique_ptr<Environment> ImaginedPartitioning::clone() const {
  return std::make_unique<ImaginedPartitioning>(*this);
}

bool ImaginedPartitioning::resample_future(Seed seed) {
  cluster_.resample_future(seed);
  return true;
}

EpisodeRecord ImaginedPartitioning::summary() const {
  EpisodeRecord out{return_, decisions_, {}};
  for (std::size_t m = 0; m < spec().metrics.size(); ++m) {
    out.metrics[m] = std::numeric_limits<double>::quiet_NaN();
  }
  return out;
}

}  // namespace pacml::env

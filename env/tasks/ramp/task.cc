#include "env/tasks/ramp/task.h"

#include <algorithm>
#include <utility>

#include "common/result.h"
#include "common/spell_number.h"
#include "env/tasks/ramp/metrics.h"

namespace pacml::env {
namespace {

// Of what is derived from a configuration and kept, in each thread that simulates.
constexpr std::size_t kMostLastingBytes = std::size_t{2} << 30;

// The number of dependencies grows with the square of the degree.
void check_bytes(std::span<const JobGraphPtr> graphs, ExecutionMemo::Setting setting) {
  const auto bytes = ExecutionMemo::lasting_bytes(graphs, setting);
  if (bytes <= kMostLastingBytes) return;
  const int asked = setting.max_degree;
  while (setting.max_degree > 2 &&
         ExecutionMemo::lasting_bytes(graphs, setting) > kMostLastingBytes) {
    setting.max_degree -= 2;
  }
  const auto gib = [](std::size_t n) { return std::to_string((n >> 30) + 1) + " GiB"; };
  throw UserError("env.max_partitions_per_op: the job graphs cut at every degree up to " +
                  std::to_string(asked) + " take " + gib(bytes) +
                  " in every thread, more than 2 GiB; " + std::to_string(setting.max_degree) +
                  " is the most for these models on this cluster (env.op_quantum bounds it, too)");
}

// As check_episode (config.cc), of jobs that only a file knows.
void check_length(const RampTaskConfig& config, const WorkloadPlan& plan) {
  if (!plan.recorded() || plan.sampling() == Sampling::kRemove) return;
  const double arrivals = config.cluster.max_simulation_time / plan.recorded()->mean_gap_played() *
                          greatest_load(config.workload);
  if (arrivals <= kMostArrivals) return;
  throw UserError("cluster.max_simulation_time: an episode would have " + spell_number(arrivals) +
                  " jobs of " + config.workload.recorded.file + ", more than " +
                  spell_number(kMostArrivals));
}

}  // namespace

RampTask::RampTask(std::string name, const RampTaskConfig& config,
                   const std::vector<Profile>& profiles)
    : config_(config) {
  for (const auto& problems : {validate_ramp(config), validate(config.ramp),
                               validate(config.cluster), validate(config.reward)}) {
    if (!problems.empty()) throw UserError(problems.front());
  }
  setting_ = memo_setting(config);
  for (const auto& profile : profiles) graphs_.push_back(std::make_shared<const JobGraph>(profile));
  if (config.reward.kind == RewardKind::kMultiObjectiveJctBlocking &&
      std::all_of(graphs_.begin(), graphs_.end(), [&](const JobGraphPtr& graph) {
        return graph->total_compute() == graphs_.front()->total_compute();
      })) {
    throw UserError(
        "reward: multi_objective_jct_blocking needs models of different sequential times");
  }
  std::vector<std::string> names;
  std::vector<double> alone;
  for (const JobGraphPtr& graph : graphs_) {
    names.push_back(graph->model());
    alone.push_back(graph->total_compute() * setting_.time_scale *
                    config.workload.num_training_steps);
  }
  plan_ = std::make_shared<const WorkloadPlan>(config.workload, RecordedModels{names, alone});
  check_bytes(graphs_, setting_);
  slot_ = plan_->mean_interarrival();
  check_length(config, *plan_);
  spec_.task = std::move(name);
  spec_.metrics = ramp_metrics();
  if (plan_->recorded()) {
    spec_.inputs["env.workload.recorded.file"] = plan_->recorded()->hash();
  }
  for (const auto& graph : graphs_) {
    spec_.graphs.push_back(graph->features(setting_.semantics.mark_max_compute));
    spec_.graph_names.push_back(graph->model());
  }
}

PoolRanges RampTask::ranges(std::span<const ModelFractions> fractions) const {
  return make_pool_ranges(
      graphs_, fractions,
      {setting_.time_scale, config_.workload.num_training_steps,
       config_.max_partitions_in_observation, setting_.semantics.normalise_dependencies_by_pool});
}

void RampTask::show_cluster(DecisionReader decision_of) {
  const auto servers = make_servers_graph(setting_.ramp.topology);
  spec_.candidate_view = make_cluster_view({graphs_, spec_.graph_hashes(), servers->hash, setting_,
                                            config_.workload.num_training_steps, slot_,
                                            config_.recent_arrivals > 0, std::move(decision_of)});
  spec_.graphs.push_back(servers);
  spec_.graph_names.emplace_back("servers");
}

ShownCluster RampTask::make_shown_cluster() const {
  const auto [groups, racks, places] = setting_.ramp.topology;
  return {groups * racks * places, graphs_.size()};
}

std::shared_ptr<ExecutionMemo> RampTask::make_memo() const {
  return std::make_shared<ExecutionMemo>(graphs_, setting_);
}

}  // namespace pacml::env

#include "env/tasks/ramp/task.h"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "common/check.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/spell_number.h"
#include "env/graph/profile_hash.h"
#include "env/tasks/ramp/metrics.h"

namespace pacml::env {
namespace {

// Of what is derived from a configuration and kept, in each thread that simulates.
constexpr std::size_t kMostLastingBytes = std::size_t{2} << 30;

std::size_t lasting_bytes(std::span<const JobGraphPtr> graphs,
                          std::span<const RampCluster> clusters, int max_degree) {
  std::size_t bytes = 0;
  for (const RampCluster& cluster : clusters) {
    ExecutionMemo::Setting setting = cluster.setting;
    setting.max_degree = max_degree;
    bytes += ExecutionMemo::lasting_bytes(graphs, setting);
  }
  return bytes;
}

// The number of dependencies grows with the square of the degree.
void check_bytes(std::span<const JobGraphPtr> graphs, std::span<const RampCluster> clusters) {
  const int asked = clusters.front().setting.max_degree;
  const auto bytes = lasting_bytes(graphs, clusters, asked);
  if (bytes <= kMostLastingBytes) return;
  int most = asked;  // that fits; 0: none does
  while (most > 0 && lasting_bytes(graphs, clusters, most) > kMostLastingBytes) {
    most -= most > 2 ? 2 : 1;
  }
  const auto gib = [](std::size_t n) { return std::to_string((n >> 30) + 1) + " GiB"; };
  const std::string where = clusters.size() > 1 ? "these clusters" : "this cluster";
  throw UserError("env.max_partitions_per_op: the job graphs cut at every degree up to " +
                  std::to_string(asked) + " take " + gib(bytes) +
                  " in every thread, more than 2 GiB; " +
                  (most > 0 ? std::to_string(most) + " is the most for these models on " + where +
                                  " (env.op_quantum bounds it, too)"
                            : "no degree fits for these models on " + where +
                                  ": take fewer of them, or a larger env.op_quantum"));
}

// As check_episode (config.cc), of jobs that only a file knows.
void check_length(const RampTaskConfig& config, const WorkloadPlan& plan) {
  if (!plan.recorded()) return;
  double arrivals = config.cluster.max_simulation_time / plan.recorded()->mean_gap_played() *
                    plan.greatest_load();
  if (plan.sampling() == Sampling::kRemove) {
    arrivals = std::min(arrivals, static_cast<double>(plan.recorded()->played().count));
  }
  if (arrivals <= kMostArrivals) return;
  throw UserError("cluster.max_simulation_time: an episode would have " + spell_number(arrivals) +
                  " jobs of " + config.workload.recorded.file + ", more than " +
                  spell_number(kMostArrivals));
}

// Of the models that rewards are scaled by: of a record, those of its known part.
void check_reward(const RewardConfig& reward, std::span<const JobGraphPtr> graphs,
                  const WorkloadPlan& plan) {
  if (reward.kind != RewardKind::kMultiObjectiveJctBlocking) return;
  std::set<double> times;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const bool counts = !plan.recorded() || plan.recorded()->pool().statistics()[i].jobs > 0;
    if (counts) times.insert(graphs[i]->total_compute());
  }
  if (times.size() > 1) return;
  throw UserError(
      "reward: multi_objective_jct_blocking needs models of different sequential times" +
      std::string(plan.recorded() ? " in what is known of the recorded jobs" : ""));
}

// Whether a step of them takes the same, wherever it is run.
bool run_alike(const JobGraph& a, const JobGraph& b) {
  const auto same_bytes = [](const JobGraph::Dependency& x, const JobGraph::Dependency& y) {
    return x.src == y.src && x.dst == y.dst && x.bytes == y.bytes;
  };
  return std::ranges::equal(a.compute(), b.compute()) &&
         std::ranges::equal(a.memory(), b.memory()) &&
         std::ranges::equal(a.optimizer_bytes(), b.optimizer_bytes()) &&
         std::ranges::equal(a.dependencies(), b.dependencies(), same_bytes);
}

// Observations name a job's graph by its features, which are shares of its own greatest: who works
// out how long a job would run has to find the right one by them. UserError: there are two.
void check_lookalikes(std::span<const JobGraphPtr> graphs, std::span<const GraphHash> features) {
  std::unordered_map<GraphHash, std::size_t> first;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const auto [found, is_new] = first.emplace(features[i], i);
    const JobGraph& other = *graphs[found->second];
    if (is_new || run_alike(*graphs[i], other)) continue;
    throw UserError(
        "the models " + other.model() + " and " + graphs[i]->model() +
        " differ in scale or optimiser alone, which decisions do not show: a policy would "
        "take one for the other; name one of them in env.workload.models");
  }
}

}  // namespace

RampTask::RampTask(std::string name, const RampTaskConfig& config,
                   const std::vector<Profile>& profiles)
    : config_(config) {
  for (const auto& problems : {validate_ramp(config), validate(config.ramp),
                               validate(config.cluster), validate(config.reward)}) {
    if (!problems.empty()) throw UserError(problems.front());
  }
  std::vector<std::string> too_long;
  check_episode(config, profiles.size(), too_long);
  if (!too_long.empty()) throw UserError(too_long.front());
  for (const auto& profile : profiles) graphs_.push_back(std::make_shared<const JobGraph>(profile));
  const double time_scale = memo_setting(config, config.ramp.topology).time_scale;
  std::vector<std::string> names;
  std::vector<double> alone;
  for (const JobGraphPtr& graph : graphs_) {
    names.push_back(graph->model());
    alone.push_back(graph->total_compute() * time_scale * config.workload.num_training_steps);
  }
  for (const auto& topology : topologies(config)) {
    add_cluster(topology, RecordedModels{names, alone});
  }
  check_bytes(graphs_, clusters_);
  check_reward(config.reward, graphs_, *plan());
  for (const RampCluster& cluster : clusters_) check_length(config, *cluster.plan);
  spec_.task = std::move(name);
  spec_.metrics = ramp_metrics();
  if (plan()->recorded()) {
    spec_.inputs["env.workload.recorded.file"] = plan()->recorded()->hash();
  }
  if (!config.profiles.empty()) spec_.inputs["env.profiles"] = profile_hash(profiles);
  for (const auto& graph : graphs_) {
    spec_.graphs.push_back(graph->features(setting().semantics.mark_max_compute));
    spec_.graph_names.push_back(graph->model());
  }
}

void RampTask::add_cluster(const std::array<int, 3>& topology, const RecordedModels& models) {
  RampCluster& cluster = clusters_.emplace_back();
  cluster.setting = memo_setting(config_, topology);
  const double size = relative_size(config_, topology);
  WorkloadConfig workload = config_.workload;
  if (workload.loads.empty()) workload.loads = {1};
  for (double& load : workload.loads) load *= size;
  cluster.plan = std::make_shared<const WorkloadPlan>(workload, models);
  cluster.slot = cluster.plan->mean_interarrival() / size;
}

std::size_t RampTask::cluster_of(Seed episode) const {
  if (clusters_.size() == 1) return 0;
  return Rng(derive(episode, Purpose::kCluster, 0)).below(clusters_.size());
}

const RampCluster& RampTask::cluster_of(const Topology& topology) const {
  const std::array<int, 3> shape = {topology.groups(), topology.racks(),
                                    topology.servers_per_rack()};
  const auto found = std::ranges::find_if(clusters_, [&](const RampCluster& cluster) {
    return cluster.setting.ramp.topology == shape;
  });
  PACML_CHECK(found != clusters_.end(), "a cluster of the task's");
  return *found;
}

PoolRanges RampTask::ranges(std::span<const ModelFractions> fractions) const {
  return make_pool_ranges(
      graphs_, fractions,
      {setting().time_scale, config_.workload.num_training_steps,
       config_.max_partitions_in_observation, setting().semantics.normalise_dependencies_by_pool});
}

double RampTask::slot_shown(ServersShown shown) const {
  return env::slot_shown(shown, num_servers(config_.ramp.topology), slot());
}

void RampTask::show_cluster(ServersShown shown, DecisionReader decision_of) {
  check_lookalikes(graphs_, spec_.graph_hashes());
  ClusterViewSetting view;
  view.graphs = graphs_;
  view.hashes = spec_.graph_hashes();
  view.shown = shown;
  view.num_training_steps = config_.workload.num_training_steps;
  view.slot = slot_shown(shown);
  view.recent = config_.recent_arrivals > 0;
  view.decision_of = std::move(decision_of);
  for (RampCluster& cluster : clusters_) {
    const auto servers = make_servers_graph(cluster.setting.ramp.topology);
    view.clusters.push_back({servers->hash, cluster.setting, cluster.slot / view.slot});
    cluster.graph = static_cast<std::uint16_t>(spec_.graphs.size());
    spec_.graphs.push_back(servers);
    // Where others may follow, by its topology, so that none is taken for another that has changed.
    spec_.graph_names.push_back(shown == ServersShown::kEach
                                    ? "servers"
                                    : "servers " + spell_topology(cluster.setting.ramp.topology));
  }
  spec_.candidate_view = make_cluster_view(std::move(view));
}

std::shared_ptr<RampMemos> RampTask::make_memos() const {
  std::vector<ExecutionMemo::Setting> settings;
  for (const RampCluster& cluster : clusters_) settings.push_back(cluster.setting);
  return std::make_shared<RampMemos>(graphs_, std::move(settings));
}

}  // namespace pacml::env

#include "env/tasks/cluster_scheduling/task.h"

#include <algorithm>
#include <utility>

#include "common/result.h"
#include "env/gpu_cluster/speed_tables_json.h"
#include "env/tasks/cluster_scheduling/baselines.h"
#include "env/tasks/cluster_scheduling/environment.h"

namespace pacml::env {
namespace {

constexpr int kSampledJobs = 4096;  // of which the mean job is the mean

std::vector<MetricSpec> scheduling_metrics() {
  return {{"average_jct_s", "average JCT s", "s", Better::kLower, 0, {}},
          {"relative_jct", "JCT / alone", "of the time alone", Better::kLower, 3, {}},
          {"p50_jct_s", "p50 JCT s", "s", Better::kLower, 0, {}},
          {"p99_jct_s", "p99 JCT s", "s", Better::kLower, 0, {}},
          {"average_queue_s", "queueing s", "s", Better::kLower, 0, {}},
          {"makespan_s", "makespan s", "s", Better::kLower, 0, {}},
          {"utilisation", "utilisation", "of the GPU time", Better::kHigher, 3, {}},
          {"mean_slowdown", "mean slow-down", "1", Better::kLower, 2, {}},
          {"jain_users", "", "1", Better::kHigher, 3, {}},
          {"shared_placements", "shared", "of the placements", Better::kNeither, 3, {}},
          {"forwards", "forwards", "a job", Better::kNeither, 3, {}},
          {"passes", "passes", "of the decisions", Better::kNeither, 3, {}}};
}

double mean_alone_s(const GpuClusterModel& model, const GeneratedJobsConfig& jobs) {
  GeneratedJobsConfig many = jobs;
  many.jobs = kSampledJobs;
  double sum = 0;
  for (const GpuJobSpec& job : generate_jobs(model, many, Seed{0})) {
    const auto shape = static_cast<std::size_t>(model.speeds().shape(job.type, job.gpus));
    sum += job.steps / model.speeds().shapes()[shape].best_rate;
  }
  return sum / kSampledJobs;
}

}  // namespace

ClusterSchedulingTask::ClusterSchedulingTask(const ClusterSchedulingConfig& config)
    : config_(config) {
  if (const auto found = validate(config); !found.empty()) {
    throw UserError("env." + found.front());
  }
  try {
    model_ = std::make_shared<const GpuClusterModel>(
        config.cluster,
        config.speeds.empty() ? generated_speeds() : read_speed_tables(config.speeds));
    if (!config.trace.file.empty()) trace_.emplace(*model_, config.trace, config.jobs);
    scale_ = scheduling_scale(*model_,
                              trace_ ? trace_->mean_alone_s() : mean_alone_s(*model_, config.jobs));
  } catch (const UserError& error) {
    throw UserError(std::string("env: ") + error.what());
  }
  for (int p = 0; p < config.cluster.partitions; ++p) {
    nodes_.emplace_back(*model_, p);
    const GraphFeaturesPtr graph = partition_graph(*model_, p);
    const auto same = std::ranges::find(spec_.graphs, graph->hash, &GraphFeatures::hash);
    graph_of_.push_back(static_cast<std::uint16_t>(same - spec_.graphs.begin()));
    if (same != spec_.graphs.end()) continue;
    spec_.graphs.push_back(graph);
    spec_.graph_names.push_back("partition " + std::to_string(p));
  }
  spec_.task = "cluster_scheduling";
  spec_.observation = observation_spec(config);
  spec_.metrics = scheduling_metrics();
}

std::vector<GpuJobSpec> ClusterSchedulingTask::draw_jobs(Seed seed) const {
  return trace_ ? trace_->draw(seed) : generate_jobs(*model_, config_.jobs, seed);
}

EnvironmentFactory ClusterSchedulingTask::make_factory() const {
  return [task = shared_from_this()]() -> std::unique_ptr<Environment> {
    return std::make_unique<ClusterSchedulingEnv>(task);
  };
}

std::vector<Baseline> ClusterSchedulingTask::baselines() const {
  return cluster_scheduling_baselines();
}

std::unique_ptr<Agent> ClusterSchedulingTask::make_agent(std::string_view name) const {
  return make_cluster_scheduling_agent(name);
}

}  // namespace pacml::env

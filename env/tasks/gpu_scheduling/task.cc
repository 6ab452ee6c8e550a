#include "env/tasks/gpu_scheduling/task.h"

#include <algorithm>
#include <utility>

#include "common/result.h"
#include "common/try_again.h"
#include "env/gpu_cluster/speed_tables_json.h"
#include "env/tasks/gpu_scheduling/environment.h"

namespace pacml::env {
namespace {

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
          {"passes", "passes", "of the decisions", Better::kNeither, 3, {}},
          {"forwards", "forwards", "a job", Better::kNeither, 3, {}}};
}

// Jobs that fit on a GPU together run there as fast as alone.
void forget_interference(GpuSpeedTables& tables) {
  for (auto& [gpu_type, rows] : tables.pairs) {
    for (auto& [type, row] : rows) {
      for (auto& [other, share] : row) share = share == 0 ? 0 : 1;
    }
  }
}

}  // namespace

GpuSpeedTables tables_of(const GpuWorkloadConfig& workload) {
  return workload.speeds.empty() ? generated_speeds() : read_speed_tables(workload.speeds);
}

GpuSchedulingTask::GpuSchedulingTask(std::string name, const GpuWorkloadConfig& workload,
                                     const SchedulingRules& rules,
                                     const std::vector<std::string>& problems)
    : GpuSchedulingTask(std::move(name), workload, rules, problems,
                        {.read = [&workload] { return tables_of(workload); },
                         .are_own = !workload.speeds.empty()}) {}

GpuSchedulingTask::GpuSchedulingTask(std::string name, const GpuWorkloadConfig& workload,
                                     const SchedulingRules& rules,
                                     const std::vector<std::string>& problems, const Speeds& speeds)
    : jobs_(workload.jobs), rules_(rules) {
  if (!problems.empty()) throw UserError("env." + problems.front());
  try {
    GpuSpeedTables tables = speeds.read();
    if (!workload.interference) forget_interference(tables);
    model_ = std::make_shared<const GpuClusterModel>(workload.cluster, tables);
    if (!workload.speeds.empty()) spec_.add_input("env.speeds", workload.speeds);
    if (!workload.trace.file.empty()) {
      trace_.emplace(*model_, workload.trace, workload.jobs, speeds.are_own);
      spec_.add_input("env.trace.file", workload.trace.file);
    }
    if (!workload.job_lists.empty()) {
      lists_.emplace(*model_, workload.job_lists);
      for (const std::string& file : workload.job_lists) spec_.add_input("env.job_lists", file);
    }
    scale_ = scheduling_scale(*model_, lists_   ? lists_->mean_alone_s()
                                       : trace_ ? trace_->mean_alone_s()
                                                : mean_alone_s(*model_, workload.jobs));
    scale_.messages = rules.messages;
  } catch (const TryAgainError&) {
    throw;
  } catch (const UserError& error) {
    throw UserError(std::string("env: ") + error.what());
  }
  for (int p = 0; p < workload.cluster.partitions; ++p) {
    nodes_.emplace_back(*model_, p);
    const GraphFeaturesPtr graph = partition_graph(*model_, p);
    const auto same = std::ranges::find(spec_.graphs, graph->hash, &GraphFeatures::hash);
    graph_of_.push_back(static_cast<std::uint16_t>(same - spec_.graphs.begin()));
    if (same != spec_.graphs.end()) continue;
    spec_.graphs.push_back(graph);
    spec_.graph_names.push_back("partition " + std::to_string(p));
  }
  spec_.task = std::move(name);
  spec_.observation = scheduling_observation(workload.cluster, rules.offers);
  spec_.metrics = scheduling_metrics();
}

std::vector<GpuJobSpec> GpuSchedulingTask::draw_jobs(Seed seed) const {
  return trace_ ? trace_->draw(seed) : generate_jobs(*model_, jobs_, seed);
}

std::vector<GpuJobSpec> GpuSchedulingTask::draw_future(Seed seed, Seed episode,
                                                       std::size_t arrived) const {
  return trace_ ? trace_->draw_other(seed, episode, arrived) : draw_jobs(seed);
}

EnvironmentFactory GpuSchedulingTask::make_factory() const {
  return [task = shared_from_this()]() -> std::unique_ptr<Environment> {
    return std::make_unique<GpuSchedulingEnv>(task);
  };
}

}  // namespace pacml::env

#include "env/tasks/job_placing/task.h"

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/result.h"
#include "env/graph/profile_library.h"
#include "env/tasks/job_placing/baselines.h"

namespace pacml::env {
namespace {

GpuSpeedTables speeds_of(const JobPlacingConfig& c) {
  if (c.speeds_from == SpeedSource::kTables) return tables_of(c);
  if (const auto problems = validate(c.graphs); !problems.empty()) {
    throw UserError("graphs." + problems.front());
  }
  return graph_speeds(load_profiles(c.profiles, c.graphs.models), c.graphs,
                      c.cluster.topology.gpu_types);
}

}  // namespace

JobPlacingTask::JobPlacingTask(const JobPlacingConfig& config)
    : GpuSchedulingTask("job_placing", config, scheduling_rules(config), validate(config),
                        {.read = [&config] { return speeds_of(config); },
                         .are_own = !config.speeds.empty() || !config.profiles.empty()}) {
  if (config.profiles.empty()) return;
  for (const std::string& name : model()->speeds().types()) {
    spec_.add_input("env.profiles",
                    (std::filesystem::path(config.profiles) / name / "graph.txt").string());
  }
}

std::vector<Baseline> JobPlacingTask::baselines() const {
  return job_placing_baselines(model()->speeds());
}

std::unique_ptr<Agent> JobPlacingTask::make_agent(std::string_view name) const {
  return make_job_placing_agent(name, model()->speeds());
}

}  // namespace pacml::env

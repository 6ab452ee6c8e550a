#include "env/tasks/job_scheduling/task.h"

#include "env/tasks/job_scheduling/baselines.h"

namespace pacml::env {

JobSchedulingTask::JobSchedulingTask(const JobSchedulingConfig& config)
    : GpuSchedulingTask("job_scheduling", config, scheduling_rules(config), validate(config)) {}

std::vector<Baseline> JobSchedulingTask::baselines() const { return job_scheduling_baselines(); }

std::unique_ptr<Agent> JobSchedulingTask::make_agent(std::string_view name) const {
  return make_job_scheduling_agent(name, rules());
}

}  // namespace pacml::env

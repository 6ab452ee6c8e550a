#include "env/gpu_cluster/job_lists.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "common/result.h"
#include "env/gpu_cluster/gpu_job_list.h"
#include "env/gpu_cluster/gpu_jobs_json.h"
#include "env/text/json_file.h"
#include "env/text/json_member.h"

namespace pacml::env {
namespace {

// A job has to fit into the partition of whichever scheduler it comes to.
void check_sizes(const GpuClusterModel& model, std::span<const GpuJobSpec> jobs) {
  const GpuTopology& topology = model.topology();
  const std::int32_t smallest =
      topology.num_servers() / model.config().partitions * topology.per_server();
  const auto large =
      std::ranges::find_if(jobs, [smallest](const GpuJobSpec& job) { return job.gpus > smallest; });
  if (large == jobs.end()) return;
  throw UserError("job " + std::to_string(large - jobs.begin()) + ": it wants " +
                  std::to_string(large->gpus) + " GPUs, the smallest partition has " +
                  std::to_string(smallest));
}

double sum_alone_s(const GpuJobList& jobs) {
  double sum = 0;
  for (const std::int32_t id : jobs.arrivals()) sum += jobs[id].steps / jobs[id].best_rate;
  return sum;
}

}  // namespace

JobLists::JobLists(const GpuClusterModel& model, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const nlohmann::json document = read_json_file(file);
    const JsonMember recorded(document, file);
    List list{.name = recorded.has("name") ? recorded["name"].text() : file,
              .jobs = recorded_gpu_jobs(recorded["jobs"])};
    try {
      mean_alone_s_ += sum_alone_s(GpuJobList(model, list.jobs));
      check_sizes(model, list.jobs);
    } catch (const UserError& error) {
      throw UserError(file + ": " + error.what());
    }
    std::ranges::stable_sort(list.jobs, {}, &GpuJobSpec::submit_s);
    lists_.push_back(std::move(list));
    if (lists_.back().jobs.size() == lists_.front().jobs.size()) continue;
    throw UserError(file + ": it has " + std::to_string(lists_.back().jobs.size()) + " jobs, " +
                    files.front() + " has " + std::to_string(lists_.front().jobs.size()) +
                    "; lists must be of one length");
  }
  mean_alone_s_ /= static_cast<double>(lists_.size() * lists_.front().jobs.size());
}

}  // namespace pacml::env

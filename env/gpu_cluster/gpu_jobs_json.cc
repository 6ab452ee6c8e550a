#include "env/gpu_cluster/gpu_jobs_json.h"

#include <utility>

#include "env/text/json_member.h"

namespace pacml::env {

std::vector<GpuJobSpec> recorded_gpu_jobs(const JsonMember& recorded) {
  std::vector<GpuJobSpec> jobs;
  recorded.for_each([&](const JsonMember& row) {
    GpuJobSpec job;
    job.submit_s = row["submit"].number();
    job.type = row["type"].text();
    job.gpus = row["gpus"].integer();
    job.steps = row["steps"].number();
    if (row.has("user")) job.user = row["user"].text();
    if (row.has("comm")) job.comm = row["comm"].name<GpuComm>();
    job.number = static_cast<std::int32_t>(jobs.size());
    jobs.push_back(std::move(job));
  });
  return jobs;
}

}  // namespace pacml::env

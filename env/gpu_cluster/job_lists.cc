#include "env/gpu_cluster/job_lists.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_set>
#include <utility>

#include "common/hash.h"
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

// What is the same of a job in each window that has it.
std::uint64_t identity_of(const GpuJobSpec& job) {
  std::uint64_t hash = content_hash(std::span(&job.steps, 1), static_cast<std::uint64_t>(job.gpus));
  hash = content_hash(job.type, hash + static_cast<std::uint64_t>(job.comm));
  return content_hash(job.user, hash);
}

// Of each row of `length` jobs.
std::vector<std::uint64_t> identities_of_rows(std::span<const GpuJobSpec> jobs,
                                              std::size_t length) {
  std::vector<std::uint64_t> each(jobs.size());
  std::ranges::transform(jobs, each.begin(), identity_of);
  std::vector<std::uint64_t> rows;
  for (std::size_t first = 0; first + length <= each.size(); ++first) {
    rows.push_back(content_hash(std::span<const std::uint64_t>(each).subspan(first, length)));
  }
  return rows;
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
  find_overlaps();
}

void JobLists::find_overlaps() {
  const std::size_t length = std::min(kInCommon, lists_.front().jobs.size());
  std::vector<std::vector<std::uint64_t>> rows;
  for (const List& list : lists_) rows.push_back(identities_of_rows(list.jobs, length));
  overlaps_.assign(size(), std::vector<std::size_t>(size(), 0));
  for (std::size_t j = 0; j < size(); ++j) {
    const std::unordered_set<std::uint64_t> of_other(rows[j].begin(), rows[j].end());
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::size_t first = 0; first < rows[i].size(); ++first) {
        if (of_other.contains(rows[i][first])) overlaps_[i][j] = first + length;
      }
    }
  }
}

std::vector<std::size_t> JobLists::others_for(std::size_t i, std::size_t arrived) const {
  std::vector<std::size_t> out;
  for (std::size_t j = 0; j < size(); ++j) {
    if (j != i && overlaps_[i][j] <= arrived) out.push_back(j);
  }
  return out;
}

}  // namespace pacml::env

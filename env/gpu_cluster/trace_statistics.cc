#include "env/gpu_cluster/trace_statistics.h"

#include <algorithm>

#include "common/result.h"
#include "env/numerics.h"

namespace pacml::env {
namespace {

constexpr std::size_t kMostStates = 64;  // what else there is counts as "other"

}  // namespace

void TraceStatistics::add(const TraceJob& job) {
  if (num_jobs() == kMostJobs) throw UserError("the trace has more than 20 million jobs");
  first_s_ = submits_.empty() ? job.submit_s : std::min(first_s_, job.submit_s);
  last_s_ = submits_.empty() ? job.submit_s : std::max(last_s_, job.submit_s);
  submits_.push_back(job.submit_s);
  ++sizes_[job.gpus];
  const bool is_known = states_.contains(job.state) || states_.size() < kMostStates;
  ++states_[is_known ? job.state : "other"];
  if (!job.duration_s) return;
  durations_.push_back(*job.duration_s);
  gpu_seconds_ += *job.duration_s * job.gpus * job.gpu_share;
}

double TraceStatistics::duration_s(double share) const { return nearest_rank(durations_, share); }

std::vector<std::int64_t> TraceStatistics::arrivals(std::size_t parts) const {
  std::vector<std::int64_t> counts(parts);
  for (const double submit : submits_) {
    const double share = span_s() > 0 ? (submit - first_s_) / span_s() : 0;
    ++counts[std::min(parts - 1, static_cast<std::size_t>(share * static_cast<double>(parts)))];
  }
  return counts;
}

double time_scale(const TraceStatistics& statistics, double load, double gpus) {
  if (statistics.gpu_seconds() <= 0) {
    throw UserError("no job says how long it ran, so that its load cannot be scaled");
  }
  if (statistics.span_s() <= 0) {
    throw UserError("all jobs arrive at one time, so that their load cannot be scaled");
  }
  return statistics.gpu_seconds() / (gpus * load) / statistics.span_s();
}

}  // namespace pacml::env

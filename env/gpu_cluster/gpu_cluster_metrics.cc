#include "env/gpu_cluster/gpu_cluster_metrics.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "env/numerics.h"

namespace pacml::env {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// 1 for equal shares, 1 / n where one has everything (Jain, Chiu and Hawe 1984).
double jain_index(const std::vector<double>& shares) {
  double squares = 0;
  for (const double x : shares) squares += x * x;
  const double sum = sum_of(shares);
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace

GpuClusterMetrics gpu_cluster_metrics(const GpuClusterState& state,
                                      std::span<const double> alone_s) {
  GpuClusterMetrics metrics;
  metrics.active_time = state.active_job_s();
  metrics.placements = state.num_placements();
  for (int p = 0; p < state.model().config().partitions; ++p) {
    metrics.progress.push_back(state.settled_progress(p));
  }
  std::vector<double> jct;
  std::vector<double> speeds(state.jobs().users().size());
  std::vector<double> counts(speeds.size());
  double queued = 0;
  double slowdown = 0;
  double last = 0;
  for (std::size_t i = 0; i < state.jobs().size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const GpuJob& job = state.jobs()[id];
    const GpuJobProgress& of = state.progress(id);
    metrics.preemptions += of.preemptions;
    if (of.status != GpuJobStatus::kFinished) continue;
    const double alone = alone_s.empty() ? job.steps / job.best_rate : alone_s[i];
    jct.push_back(of.finish - job.submit_s);
    queued += of.start - job.submit_s;
    slowdown += jct.back() / alone;
    speeds[static_cast<std::size_t>(job.user)] += alone / jct.back();
    counts[static_cast<std::size_t>(job.user)] += 1;
    last = std::max(last, of.finish);
  }
  metrics.finished = static_cast<std::int64_t>(jct.size());
  metrics.unfinished = static_cast<std::int64_t>(state.jobs().size() - jct.size());
  if (jct.empty()) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (double* figure : {&metrics.avg_jct, &metrics.p50_jct, &metrics.p90_jct, &metrics.p99_jct,
                           &metrics.avg_queue, &metrics.makespan, &metrics.utilisation,
                           &metrics.mean_slowdown, &metrics.jain_users}) {
      *figure = none;
    }
    return metrics;
  }
  std::ranges::sort(jct);
  const auto n = static_cast<double>(jct.size());
  metrics.avg_jct = sum_of(jct) / n;
  metrics.p50_jct = nearest_rank(jct, 0.5);
  metrics.p90_jct = nearest_rank(jct, 0.9);
  metrics.p99_jct = nearest_rank(jct, 0.99);
  metrics.avg_queue = queued / n;
  metrics.makespan = last - state.jobs()[state.jobs().arrivals().front()].submit_s;
  metrics.utilisation = state.busy_gpu_s() / (state.topology().num_gpus() * metrics.makespan);
  metrics.mean_slowdown = slowdown / n;
  std::vector<double> shares;
  for (std::size_t u = 0; u < speeds.size(); ++u) {
    if (counts[u] > 0) shares.push_back(speeds[u] / counts[u]);
  }
  metrics.jain_users = jain_index(shares);
  return metrics;
}

}  // namespace pacml::env

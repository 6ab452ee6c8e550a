#include "env/tasks/partitioning/paper_observation.h"

#include <algorithm>
#include <array>
#include <limits>

#include "common/check.h"

namespace pacml::env {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The published features. What is normalised lies in 0..1 but where the published ranges are not
// those of the pool (env/tasks/ramp/pool_ranges.h).
const std::array<FeatureSpec, 17> kPaperGlobals = {{
    {"num_ops", "share of the range", -kInfinite},
    {"num_dependencies", "share of the range", -kInfinite},
    {"sequential_time", "share of the range", -kInfinite},
    {"max_acceptable_time", "share of the range", -kInfinite},
    {"max_acceptable_fraction", "share of the range", -kInfinite},
    {"max_acceptable_fraction_raw", "sequential time"},
    {"total_memory", "share of the range", -kInfinite},
    {"total_dependency_bytes", "share of the range", -kInfinite},
    {"training_steps", "share of the range", -kInfinite},
    {"compute_mean", "graph's largest"},
    {"compute_median", "graph's largest"},
    {"memory_mean", "graph's largest"},
    {"memory_median", "graph's largest"},
    {"bytes_mean", "graph's largest"},
    {"bytes_median", "graph's largest"},
    {"servers_in_use", "share of the servers", 0, 1},
    {"jobs_running", "share of the servers", 0, 1},
}};
// Values below the normalisation's lower end are lifted by this, as published.
constexpr double kMachineEpsilon = 1e-7;

}  // namespace

std::vector<FeatureSpec> paper_globals() { return {kPaperGlobals.begin(), kPaperGlobals.end()}; }

void write_paper_globals(const ClusterSight& cluster, const PoolRanges& ranges,
                         std::span<float> out) {
  PACML_CHECK(out.size() == kPaperGlobals.size(), "an observation of another task");
  const Job& job = cluster.waiting_job();
  const JobGraph& graph = *cluster.memo().graphs()[static_cast<std::size_t>(job.model)];
  const auto& moments = graph.moments();
  const double servers = cluster.memo().topology().num_servers();
  // Workloads know no limit above the sequential time; where the world has one, it is shown as
  // that.
  const double fraction = std::min(job.fraction, 1.0);
  const double most_time = std::min(job.max_acceptable_time, job.sequential_time);
  const std::array<double, kPaperGlobals.size()> features = {
      ranges.num_ops.normalise(graph.num_ops()),
      ranges.num_dependencies.normalise(static_cast<double>(graph.dependencies().size())),
      ranges.sequential_time.normalise(job.sequential_time),
      ranges.max_acceptable_time.normalise(most_time),
      ranges.fraction.normalise(fraction),
      fraction,
      ranges.total_memory.normalise(graph.total_memory()),
      ranges.total_dependency_bytes.normalise(graph.total_dependency_bytes()),
      ranges.training_steps.normalise(cluster.num_training_steps()),
      moments.compute_mean,
      moments.compute_median,
      moments.memory_mean,
      moments.memory_median,
      moments.bytes_mean,
      moments.bytes_median,
      cluster.mounted_workers() / servers,
      static_cast<double>(cluster.num_running()) / servers};
  for (std::size_t i = 0; i < features.size(); ++i) {
    const double lifted = features[i] < 0 ? features[i] + kMachineEpsilon : features[i];
    out[i] = static_cast<float>(lifted);
  }
}

}  // namespace pacml::env

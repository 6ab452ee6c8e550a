#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/ids.h"
#include "env/gpu_cluster/gpu_cluster_model.h"

namespace pacml::env {

// Jobs and speeds out of a model instead of a trace, for those who have none.

// Ten types of job on the GPU types "v100" and "p100". What a type does is made up, in the orders
// of magnitude of published measurements:
//
//   speed on n GPUs    its speed on one times n^a in one server and n^b over servers, a >= b, for n
//                      = 1, 2, 4, ... 64
//   beside another     both take turns on a GPU that each would keep busy for a share p of the
//   time:
//                      1 / max(1, p + p of the other); where their memory does not fit together
//                      they cannot
//   host load          the share of a core's worth of its socket that each of its GPUs takes
[[nodiscard]] GpuSpeedTables generated_speeds();

// Which jobs arrive.
struct GeneratedJobsConfig {
  int jobs = 160;
  double load = 1.6;     // GPU-seconds that are wanted, over those that there are until the last
                         // arrival
  int largest_gpus = 4;  // sizes are powers of 2 up to this, each half as likely as the one before
  double median_s = 1500;  // of log-normal durations alone on the best GPUs ...
  double deviation = 1.3;  // ... and the standard deviation of their logarithm
  double least_s = 300;
  double most_s = 14400;
  int users = 16;  // the k-th with a weight of 1 / k
  bool operator==(const GeneratedJobsConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, GeneratedJobsConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("jobs", c.jobs);
  v("load", c.load);
  v("largest_gpus", c.largest_gpus);
  v("median_s", c.median_s);
  v("deviation", c.deviation);
  v("least_s", c.least_s);
  v("most_s", c.most_s);
  v("users", c.users);
}
[[nodiscard]] std::vector<std::string> validate(const GeneratedJobsConfig& c);

// A Poisson process of such jobs, a pure function of the seed. Types are drawn evenly among those
// that the model has a speed for at the job's size, ring and parameter servers as well. UserError,
// whatever the seed: there is none at some size, one could do more than kMostSteps, or all could
// arrive over more than kMostSeconds.
[[nodiscard]] std::vector<GpuJobSpec> generate_jobs(const GpuClusterModel& model,
                                                    const GeneratedJobsConfig& config, Seed seed);
// Seconds that such jobs take alone, the mean of a sample. UserError as generate_jobs().
[[nodiscard]] double mean_alone_s(const GpuClusterModel& model, const GeneratedJobsConfig& config);

// Clusters of which it is known how hard they are (docs/gpu_cluster.md): small16, leaf128, fat512,
// leaf2048; two jobs share a GPU. UserError names the known ones.
struct NamedGpuCluster {
  GpuClusterConfig cluster;
  GeneratedJobsConfig jobs;
};
[[nodiscard]] NamedGpuCluster named_gpu_cluster(const std::string& name);

}  // namespace pacml::env

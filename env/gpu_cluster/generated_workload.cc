#include "env/gpu_cluster/generated_workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "common/result.h"
#include "common/rng.h"
#include "common/text.h"
#include "env/gpu_cluster/gpu_job_list.h"

namespace pacml::env {
namespace {

struct TypeModel {
  const char* name;
  double steps_per_s;     // on one v100
  double p100_speed;      // as a share of that
  double scaling;         // exponent in one server
  double spread_scaling;  // ... over servers
  double busy;            // share of the time that it keeps a GPU busy
  double memory;          // share of a GPU's memory
  double host_load;
};

constexpr std::array<TypeModel, 10> kTypes{{
    {"image_small", 62.0, 0.62, 0.92, 0.80, 0.55, 0.15, 0.25},
    {"image_large", 3.2, 0.48, 0.96, 0.86, 0.92, 0.55, 0.90},
    {"image_wide", 1.1, 0.45, 0.95, 0.84, 0.97, 0.70, 0.70},
    {"text_small", 41.0, 0.66, 0.88, 0.62, 0.60, 0.20, 0.10},
    {"text_large", 2.4, 0.40, 0.90, 0.55, 0.95, 0.60, 0.10},
    {"translation", 9.5, 0.52, 0.90, 0.66, 0.78, 0.40, 0.10},
    {"speech", 14.0, 0.57, 0.86, 0.60, 0.70, 0.35, 0.35},
    {"ads", 88.0, 0.81, 0.70, 0.42, 0.35, 0.30, 0.45},
    {"game", 7.0, 0.90, 0.75, 0.60, 0.30, 0.10, 1.00},
    {"generation", 4.6, 0.50, 0.93, 0.78, 0.85, 0.45, 0.30},
}};
constexpr int kMostTableGpus = 64;

constexpr int kSampledJobs = 4096;  // of which the mean job is the mean
// No normal draw is farther out: those that it is made of have 53 bits (Rng::normal).
constexpr double kMostDeviations = 9;

struct DrawnJobs {
  std::vector<GpuJobSpec> jobs;  // a second apart on average
  double gpu_seconds = 0;        // that they want
};

// So many of the jobs, whatever an episode has, before arrivals are stretched.
DrawnJobs draw_jobs(const GpuClusterModel& model, const GeneratedJobsConfig& config, int count,
                    Seed seed) {
  if (const auto problems = validate(config); !problems.empty()) throw UserError(problems.front());
  std::map<std::int32_t, std::vector<const GpuJobShape*>> shapes;  // by number of GPUs
  for (const GpuJobShape& shape : model.speeds().shapes()) shapes[shape.gpus].push_back(&shape);
  std::vector<int> sizes;
  std::vector<double> size_weights;
  for (int n = 1; n <= std::min(config.largest_gpus, model.topology().num_gpus()); n *= 2) {
    if (!shapes.contains(n)) {
      throw UserError("largest_gpus: no type of job has a speed on " + std::to_string(n) + " GPUs");
    }
    for (const GpuJobShape* shape : shapes[n]) {
      if (config.most_s * shape->best_rate <= kMostSteps) continue;
      throw UserError("most_s: jobs of type \"" +
                      model.speeds().types()[static_cast<std::size_t>(shape->type)] +
                      "\" would do more than 1e15 steps");
    }
    sizes.push_back(n);
    size_weights.push_back(1.0 / n);
  }
  if (config.jobs > 1) {  // else it arrives at 0
    const double longest_s =
        std::clamp(config.median_s * std::exp(config.deviation * kMostDeviations), config.least_s,
                   config.most_s);
    check_load(longest_s * sizes.back() * config.jobs, model.topology().num_gpus(), config.load);
  }
  std::vector<double> user_weights;
  for (int u = 1; u <= config.users; ++u) user_weights.push_back(1.0 / u);

  Rng rng(seed);
  DrawnJobs drawn;
  double time = 0;
  for (int i = 0; i < count; ++i) {
    if (i > 0) time += -std::log(1 - rng.uniform());
    const int gpus = sizes[rng.categorical(size_weights)];
    const auto& fitting = shapes[gpus];
    const GpuJobShape& shape = *fitting[rng.below(fitting.size())];
    const double duration = std::clamp(config.median_s * std::exp(config.deviation * rng.normal()),
                                       config.least_s, config.most_s);
    drawn.gpu_seconds += duration * gpus;
    drawn.jobs.push_back({.submit_s = time,
                          .type = model.speeds().types()[static_cast<std::size_t>(shape.type)],
                          .gpus = gpus,
                          .steps = duration * shape.best_rate,
                          .user = "user" + std::to_string(rng.categorical(user_weights)),
                          .comm = rng.below(2) == 0 ? GpuComm::kRing : GpuComm::kParameterServers});
  }
  return drawn;
}

}  // namespace

GpuSpeedTables generated_speeds() {
  GpuSpeedTables tables;
  for (const TypeModel& model : kTypes) {
    GpuJobType& type = tables.types[model.name];
    type.host_load = model.host_load;
    for (const char* gpu_type : {"v100", "p100"}) {
      const bool is_slow = std::string(gpu_type) == "p100";
      const double one = model.steps_per_s * (is_slow ? model.p100_speed : 1);
      for (int n = 1; n <= kMostTableGpus; n *= 2) {
        type.speeds[gpu_type][n] = {one * std::pow(n, model.scaling),
                                    one * std::pow(n, model.spread_scaling)};
      }
      for (const TypeModel& other : kTypes) {
        if (model.memory + other.memory > 1) continue;
        tables.pairs[gpu_type][model.name][other.name] = 1 / std::max(1.0, model.busy + other.busy);
      }
    }
  }
  return tables;
}

std::vector<std::string> validate(const GeneratedJobsConfig& c) {
  std::vector<std::string> problems;
  if (c.jobs < 1 || c.jobs > 10'000'000) problems.emplace_back("jobs: must be in 1..10000000");
  if (!(c.load >= 1e-6 && c.load <= 1e6)) problems.emplace_back("load: must be in 1e-6..1e6");
  if (c.largest_gpus < 1 || c.largest_gpus > kMostGpus) {
    problems.emplace_back("largest_gpus: must be in 1..2^20");
  }
  if (!(c.least_s >= 1e-3 && c.most_s <= 1e9 && c.least_s <= c.most_s)) {
    problems.emplace_back("least_s: must be in 1e-3..most_s, and most_s up to 1e9");
  }
  if (!(c.median_s >= 1e-3 && c.median_s <= 1e9)) {
    problems.emplace_back("median_s: must be in 1e-3..1e9");
  }
  if (!(c.deviation >= 0 && c.deviation <= 10)) {
    problems.emplace_back("deviation: must be in 0..10");
  }
  if (c.users < 1 || c.users > 100'000) problems.emplace_back("users: must be in 1..100000");
  return problems;
}

std::vector<GpuJobSpec> generate_jobs(const GpuClusterModel& model,
                                      const GeneratedJobsConfig& config, Seed seed) {
  DrawnJobs drawn = draw_jobs(model, config, config.jobs, seed);
  stretch_arrivals(drawn.jobs, drawn.gpu_seconds, model.topology().num_gpus(), config.load);
  return std::move(drawn.jobs);
}

double mean_alone_s(const GpuClusterModel& model, const GeneratedJobsConfig& config) {
  double sum = 0;
  for (const GpuJobSpec& job : draw_jobs(model, config, kSampledJobs, Seed{0}).jobs) {
    const auto shape = static_cast<std::size_t>(model.speeds().shape(job.type, job.gpus));
    sum += job.steps / model.speeds().shapes()[shape].best_rate;
  }
  return sum / kSampledJobs;
}

NamedGpuCluster named_gpu_cluster(const std::string& name) {
  static const std::map<std::string, NamedGpuCluster> kClusters = [] {
    std::map<std::string, NamedGpuCluster> clusters;
    const auto add = [&](const char* of, const GpuTopologyConfig& topology,
                         const GeneratedJobsConfig& jobs) {
      clusters[of].cluster.topology = topology;
      clusters[of].cluster.share = 2;
      clusters[of].cluster.host_cap = 0.6;
      clusters[of].jobs = jobs;
    };
    add("small16",
        {.gpus_per_group = 2,
         .servers = 4,
         .servers_per_rack = 2,
         .oversub_rack = 2,
         .gpu_types = {{"v100", 4}}},
        {.jobs = 160, .load = 1.6, .largest_gpus = 4});
    add("leaf128",
        {.servers = 16, .servers_per_rack = 4, .oversub_rack = 4, .gpu_types = {{"v100", 16}}},
        {.jobs = 600, .load = 1.6, .largest_gpus = 8});
    add("fat512",
        {.gpus_per_group = 2,
         .groups_per_socket = 2,
         .servers = 64,
         .servers_per_rack = 4,
         .racks_per_pod = 4,
         .oversub_pod = 2,
         .gpu_types = {{"v100", 32}, {"p100", 32}}},
        {.jobs = 2000, .load = 1.6, .largest_gpus = 16});
    add("leaf2048",
        {.servers = 256, .servers_per_rack = 16, .oversub_rack = 4, .gpu_types = {{"v100", 256}}},
        {.jobs = 4000, .load = 2.4, .largest_gpus = 32});
    return clusters;
  }();
  const auto it = kClusters.find(name);
  if (it != kClusters.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& [known, cluster] : kClusters) names.push_back(known);
  throw UserError("there is no cluster \"" + name + "\"; known are " + join(names));
}

}  // namespace pacml::env

#include "env/gpu_cluster/generated_workload.h"

#include <memory>

#include "common/result.h"
#include "env/gpu_cluster/gpu_job_list.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

TEST_CASE("generated jobs want the load that is asked for, and are a function of the seed",
          "[unit][gpu_cluster]") {
  for (const char* name : {"small16", "leaf128", "fat512", "leaf2048"}) {
    const NamedGpuCluster named = named_gpu_cluster(name);
    const GpuClusterModel model(named.cluster, generated_speeds());
    const auto jobs = generate_jobs(model, named.jobs, Seed{3});
    CAPTURE(name);
    CHECK(jobs == generate_jobs(model, named.jobs, Seed{3}));
    CHECK(jobs != generate_jobs(model, named.jobs, Seed{4}));
    CHECK(jobs.size() == static_cast<std::size_t>(named.jobs.jobs));
    const GpuJobList list(model, jobs);
    double wanted = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const GpuJob& job = list[static_cast<std::int32_t>(i)];
      const double seconds = job.steps / job.best_rate;
      CHECK(seconds >= named.jobs.least_s * (1 - 1e-12));
      CHECK(seconds <= named.jobs.most_s * (1 + 1e-12));
      CHECK(job.gpus <= named.jobs.largest_gpus);
      wanted += seconds * job.gpus;
    }
    CHECK(wanted / (model.topology().num_gpus() * jobs.back().submit_s) == Approx(named.jobs.load));
  }
}

TEST_CASE("what no jobs can be generated from is refused", "[unit][gpu_cluster]") {
  CHECK_THROWS_WITH(named_gpu_cluster("small"),
                    Catch::Contains("known are fat512, leaf128, leaf2048, small16"));
  NamedGpuCluster named = named_gpu_cluster("leaf2048");
  const GpuClusterModel model(named.cluster, generated_speeds());
  GeneratedJobsConfig sparse = named.jobs;
  sparse.load = 1e-6;
  sparse.jobs = 400'000;
  CHECK_THROWS_WITH(generate_jobs(model, sparse, Seed{0}),
                    Catch::StartsWith("jobs.load: 1e-06 can spread the jobs of an episode over "));
  named.jobs.largest_gpus = 1024;
  CHECK_THROWS_WITH(generate_jobs(model, named.jobs, Seed{0}), Catch::Contains("on 128 GPUs"));
  named.jobs.load = 0;
  CHECK_THROWS_WITH(generate_jobs(model, named.jobs, Seed{0}), Catch::Contains("load"));
}

TEST_CASE("how long arrivals may take is checked for as many jobs as there are",
          "[unit][gpu_cluster]") {
  const NamedGpuCluster named = named_gpu_cluster("small16");
  const GpuClusterModel model(named.cluster, generated_speeds());
  GeneratedJobsConfig jobs = named.jobs;
  jobs.load = 1e-6;
  jobs.jobs = 10;
  const double mean_s = mean_alone_s(model, named.jobs);
  CHECK(mean_alone_s(model, jobs) == mean_s);  // nothing but durations is sampled
  CHECK(generate_jobs(model, jobs, Seed{1}).back().submit_s < kMostSeconds);
  jobs.jobs = 1;  // it arrives at once
  jobs.most_s = 1e9;
  jobs.least_s = 1e9;
  CHECK(generate_jobs(model, jobs, Seed{1}).back().submit_s == 0);
  // At the bound itself: 16 jobs of 1e9 s want a thousandth of the time of 16 GPUs.
  jobs.jobs = 16;
  jobs.largest_gpus = 1;
  jobs.load = 1e-3;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(generate_jobs(model, jobs, Seed{seed}).back().submit_s <= kMostSeconds);
  }
  jobs.load = 0.999e-3;
  CHECK_THROWS_WITH(mean_alone_s(model, jobs), Catch::StartsWith("jobs.load: 0.000999 can spread"));
}

}  // namespace
}  // namespace pacml::env

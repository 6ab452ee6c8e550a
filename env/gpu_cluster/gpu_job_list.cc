#include "env/gpu_cluster/gpu_job_list.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "common/check.h"
#include "common/result.h"
#include "common/spell_number.h"

namespace pacml::env {
namespace {

void check(const GpuJobSpec& job, const GpuTopology& topology) {
  if (!(job.submit_s >= 0 && job.submit_s <= kMostSeconds)) {
    throw UserError("its time of arrival must be in 0..1e12 s");
  }
  if (!(job.steps > 0 && job.steps <= kMostSteps)) {
    throw UserError("its steps must be above 0, up to 1e15");
  }
  if (job.gpus < 1) throw UserError("it wants no GPU");
  if (job.gpus > topology.num_gpus()) {
    throw UserError("it wants " + std::to_string(job.gpus) + " GPUs, the cluster has " +
                    std::to_string(topology.num_gpus()));
  }
}

}  // namespace

void check_load(double gpu_seconds, double gpus, double load) {
  const double span = gpu_seconds / (gpus * load);
  if (span <= kMostSeconds) return;
  throw UserError("jobs.load: " + spell_number(load) + " can spread the jobs of an episode over " +
                  spell_number(span) + " s, more than " + spell_number(kMostSeconds));
}

void stretch_arrivals(std::span<GpuJobSpec> jobs, double gpu_seconds, double gpus, double load) {
  const double last = jobs.empty() ? 0 : jobs.back().submit_s;
  const double span = gpu_seconds / (gpus * load);
  const double factor = last > 0 ? span / last : 0;
  // Rounding may take the last one beyond the bound.
  for (GpuJobSpec& job : jobs) job.submit_s = std::min(job.submit_s * factor, kMostSeconds);
}

GpuJobList::GpuJobList(const GpuClusterModel& model, std::span<const GpuJobSpec> jobs) {
  if (jobs.empty()) throw UserError("there are no jobs");
  if (jobs.size() > std::numeric_limits<std::int32_t>::max()) {
    throw UserError("there are more than 2^31 jobs");
  }
  std::set<std::string> names;
  for (const GpuJobSpec& job : jobs) names.insert(job.user);
  users_.assign(names.begin(), names.end());
  jobs_.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const GpuJobSpec& spec = jobs[i];
    try {
      check(spec, model.topology());
      const std::int32_t shape = model.speeds().shape(spec.type, spec.gpus);
      const GpuJobShape& of = model.speeds().shapes()[static_cast<std::size_t>(shape)];
      const auto user = std::ranges::lower_bound(users_, spec.user) - users_.begin();
      jobs_.push_back({.submit_s = spec.submit_s,
                       .steps = spec.steps,
                       .best_rate = of.best_rate,
                       .shape = shape,
                       .type = of.type,
                       .gpus = spec.gpus,
                       .user = static_cast<std::int32_t>(user),
                       .number = spec.number.value_or(static_cast<std::int32_t>(i)),
                       .comm = spec.comm});
    } catch (const UserError& error) {
      throw UserError("job " + std::to_string(i) + ": " + error.what());
    }
  }
  arrivals_.resize(jobs.size());
  std::iota(arrivals_.begin(), arrivals_.end(), 0);
  std::ranges::stable_sort(arrivals_, {}, [&](std::int32_t id) { return (*this)[id].submit_s; });
  for (std::size_t k = 0; k < arrivals_.size(); ++k) {
    jobs_[static_cast<std::size_t>(arrivals_[k])].rank = static_cast<std::int32_t>(k);
  }
}

void GpuJobList::set_shape(const GpuClusterModel& model, std::int32_t id, std::int32_t shape) {
  const GpuJobShape& of = model.speeds().shapes()[static_cast<std::size_t>(shape)];
  GpuJob& job = jobs_[static_cast<std::size_t>(id)];
  PACML_CHECK(of.type == job.type, "a shape of the job's type");
  job.shape = shape;
  job.gpus = of.gpus;
  job.best_rate = of.best_rate;
}

}  // namespace pacml::env

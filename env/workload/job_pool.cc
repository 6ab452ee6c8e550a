#include "env/workload/job_pool.h"

#include <algorithm>

#include "common/check.h"
#include "env/workload/word_stream.h"
#include "env/workload/workload_plan.h"

namespace pacml::env {
namespace {

constexpr std::uint64_t kFractionStream = 0x6672616374696f6e;  // "fraction"

}  // namespace

JobPool::JobPool(const WorkloadPlan& plan, Seed episode) {
  const auto requirement = plan.requirement().for_episode(episode);
  const WordStream words(episode, kFractionStream);
  const auto replicas = static_cast<std::size_t>(plan.replication_factor());
  const auto num_models = static_cast<std::size_t>(plan.num_models());
  jobs_.resize(replicas * num_models);
  statistics_.resize(num_models);
  for (std::size_t model = 0; model < num_models; ++model) {
    double least = requirement->values().back();
    double greatest = requirement->values().front();
    for (std::size_t i = model * replicas; i < (model + 1) * replicas; ++i) {
      const double fraction = requirement->value_of(words.word(i));
      least = std::min(least, fraction);
      greatest = std::max(greatest, fraction);
      jobs_[i] = {.model = static_cast<int>(model), .fraction = fraction};
    }
    statistics_[model] = {.jobs = plan.replication_factor(), .min = least, .max = greatest};
  }
}

JobPool::JobPool(std::span<const RecordedJob> jobs, int num_models, std::size_t counted)
    : statistics_(static_cast<std::size_t>(num_models)) {
  PACML_CHECK(counted <= jobs.size(), "only jobs of the list are counted");
  for (const RecordedJob& job : jobs) {
    PACML_CHECK(job.model >= 0 && job.model < num_models, "a recorded job names a known model");
    jobs_.push_back({.model = job.model, .fraction = job.fraction});
    if (jobs_.size() > counted) continue;
    ModelFractions& model = statistics_[static_cast<std::size_t>(job.model)];
    model.min = model.jobs == 0 ? job.fraction : std::min(model.min, job.fraction);
    model.max = model.jobs == 0 ? job.fraction : std::max(model.max, job.fraction);
    ++model.jobs;
  }
}

}  // namespace pacml::env

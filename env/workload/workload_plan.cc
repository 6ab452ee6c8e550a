#include "env/workload/workload_plan.h"

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/result.h"
#include "env/checked.h"
#include "env/workload/word_stream.h"

namespace pacml::env {
namespace {

constexpr std::uint64_t kLoadStream = 0x6c6f6164;  // "load"

constexpr int kMaxReplication = 1'000'000;         // a pool is built for every episode,
constexpr std::int64_t kMostPoolJobs = 5'000'000;  // of all models, for every environment

double greatest(const std::vector<double>& loads) {
  return loads.empty() ? 1 : *std::max_element(loads.begin(), loads.end());
}

}  // namespace

double greatest_load(const WorkloadConfig& config) { return greatest(config.loads); }

std::vector<std::string> validate(const WorkloadConfig& config) {
  std::vector<std::string> problems;
  if (config.replication_factor < 1 || config.replication_factor > kMaxReplication) {
    problems.push_back("replication_factor must be 1 to " + std::to_string(kMaxReplication) +
                       ", not " + std::to_string(config.replication_factor));
  }
  if (config.num_training_steps < 1) {
    problems.push_back("num_training_steps must be at least 1, not " +
                       std::to_string(config.num_training_steps));
  }
  for (const double load : config.loads) {
    if (load >= kLeastLoad && load <= kMostLoad) continue;
    problems.emplace_back("loads must be from 0.01 to 100");
    break;
  }
  if (validate(config.interarrival).empty()) {
    for (const std::string& problem : arrival_problems(config.interarrival)) {
      problems.push_back("interarrival " + problem);
    }
  }
  return problems;
}

WorkloadPlan::WorkloadPlan(const WorkloadConfig& config, int num_models)
    : num_models_(num_models),
      replication_factor_(checked(config).replication_factor),
      sampling_(config.sampling),
      interarrival_(config.interarrival),
      loads_(config.loads),
      requirement_(config.requirement) {
  PACML_CHECK(num_models > 0, "a workload needs a model");
  if (std::int64_t{replication_factor_} * num_models > kMostPoolJobs) {
    throw UserError("workload.replication_factor: " + std::to_string(replication_factor_) +
                    " jobs of each of " + std::to_string(num_models) + " models are more than " +
                    std::to_string(kMostPoolJobs) + ", which every environment holds");
  }
}

WorkloadPlan::WorkloadPlan(const WorkloadConfig& config, const RecordedModels& models)
    : WorkloadPlan(config, static_cast<int>(models.names.size())) {
  if (config.recorded.file.empty()) return;
  recorded_.emplace(config.recorded, models, *requirement_.for_episode(Seed{0}));
}

double WorkloadPlan::greatest_load() const { return greatest(loads_); }

double WorkloadPlan::load(Seed episode) const {
  if (loads_.empty()) return 1;
  return loads_[index_of(WordStream(episode, kLoadStream).word(0), loads_.size())];
}

}  // namespace pacml::env

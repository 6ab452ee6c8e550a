#include "apps/decide/decision_model.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "apps/evaluation/model_file.h"
#include "common/base_name.h"
#include "common/check.h"
#include "common/hash.h"
#include "common/result.h"
#include "common/rng.h"

namespace pacml::apps {
namespace {

// Of what searches draw, and of the pool that the published observation is normalised by.
constexpr Seed kSeed{0};

WatchedPolicy policy_of(const Model& model, const DecisionModelOptions& options) {
  const std::string name = base_name(options.path);
  if (!options.search) return WatchedPolicy::of_model(model.task, model.run, name);
  return WatchedPolicy::searching(model.task, model.run, name, *options.search);
}

// Whoever shows the same moment is told the same: what a search draws goes by it. The order of the
// jobs that run does not matter.
Seed seed_of(const env::ClusterMoment& moment) {
  const auto hash_of = [](double number, std::uint64_t seed) {
    return content_hash(std::span<const double>(&number, 1), seed);
  };
  std::uint64_t hash = hash_of(moment.job.fraction, static_cast<std::uint64_t>(moment.job.model));
  for (const auto& running : moment.running) {
    hash += hash_of(running.remaining, content_hash(running.execution->servers.words()));
  }
  return derive(kSeed, Purpose::kEpisode, hash);
}

[[noreturn]] void refuse(const std::string& path, const env::Task& task) {
  throw UserError(path + " is a policy of " + task.spec().task +
                  ", and only those about jobs on the RAMP cluster can be asked");
}

}  // namespace

DecisionModel::DecisionModel(const DecisionModelOptions& options) : search_(options.search) {
  const Model model = load_model(options.path, options.profiles, options.changes);
  task_ = std::dynamic_pointer_cast<const env::RampTask>(model.task);
  // Not made before its task is known: environments of others may start processes.
  if (!task_) refuse(options.path, *model.task);
  auto made = task_->make_factory()();
  if (dynamic_cast<env::RampEnvironment*>(made.get()) == nullptr) refuse(options.path, *task_);
  environment_.reset(dynamic_cast<env::RampEnvironment*>(made.release()));
  policy_ = std::make_unique<WatchedPolicy>(policy_of(model, options));
  later_.emplace(task_->plan(), kSeed);
  file_ = model.run.file.string();
  warning_ = model.run.warning;
  version_ = model.run.parameters.version.get();
  row_ = task_->spec().make_observations();
}

void DecisionModel::warm_up() {
  for (std::size_t model = 0; model < task_->graphs().size(); ++model) {
    static_cast<void>(
        decide({.running = {}, .job = {static_cast<int>(model), 1.0}}, no_arrivals()));
  }
}

ClusterDecision DecisionModel::decide(const env::ClusterMoment& moment,
                                      const env::RecentArrivals& recent) {
  environment_->reset(moment, recent, *later_);
  policy_->reset(seed_of(moment));
  ClusterDecision out;
  out.opinion = policy_->ask(*environment_);
  const int action = out.opinion.action;
  out.meaning = environment_->describe(action);
  row_.clear();
  environment_->observe(row_);
  const auto mask = row_.mask(0);
  out.mask.assign(mask.begin(), mask.end());
  auto forecast = environment_->forecast(action);
  out.cause = forecast.cause;
  out.completion_time = forecast.completion_time;
  out.limit_time = forecast.execution
                       ? environment_->cluster().max_acceptable_time(*forecast.execution)
                       : environment_->cluster().queued()->max_acceptable_time;
  out.execution = std::move(forecast.execution);
  return out;
}

std::optional<int> DecisionModel::model_number(const std::string& name) const {
  const auto graphs = task_->graphs();
  const auto graph = std::ranges::find(graphs, name, [](const auto& g) { return g->model(); });
  if (graph == graphs.end()) return std::nullopt;
  return static_cast<int>(graph - graphs.begin());
}

std::vector<std::string> DecisionModel::model_names() const {
  std::vector<std::string> names;
  for (const auto& graph : task_->graphs()) names.push_back(graph->model());
  return names;
}

double DecisionModel::sequential_time(int model) const {
  return task_->graphs()[static_cast<std::size_t>(model)]->total_compute() *
         task_->setting().time_scale * training_steps();
}

int DecisionModel::training_steps() const {
  return task_->ramp_config().workload.num_training_steps;
}

env::ExecutionPtr DecisionModel::occupation(const env::ServerSet& servers) {
  return environment_->cluster().memo().occupation(servers);
}

}  // namespace pacml::apps

#include "apps/evaluation/watched_policy.h"

#include <cmath>
#include <limits>
#include <utility>

#include "apps/evaluation/searched_policy.h"
#include "apps/evaluation/trained_agent.h"
#include "apps/run/run_directory.h"
#include "model/action_distribution.h"
#include "model/value_heads.h"
#include "planning/search_agent.h"

namespace pacml::apps {
namespace {

// Of a network whose logits are preferences.
std::vector<double> probabilities_of(const std::vector<float>& logits) {
  std::vector<float> logs(logits.size());
  model::log_probabilities(logits, logs);
  std::vector<double> out;
  for (const float log : logs) out.push_back(std::exp(static_cast<double>(log)));
  return out;
}

// Of one whose logits are more than that.
std::vector<double> action_values_of(model::ValueHeads heads, const model::PolicyOutput& output) {
  std::vector<std::uint8_t> mask;
  for (const float logit : output.logits) mask.push_back(logit > model::kMaskedLogit ? 1 : 0);
  std::vector<float> values(output.logits.size());
  model::action_values(heads, output.logits, output.values, mask, values.size(), values);
  std::vector<double> out;
  for (std::size_t a = 0; a < values.size(); ++a) {
    out.push_back(mask[a] != 0 ? static_cast<double>(values[a])
                               : std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

}  // namespace

struct WatchedPolicy::Impl {
  std::string name;
  std::string warning;
  std::unique_ptr<env::Agent> rule;  // or ...
  std::unique_ptr<TrainedAgent> network;
  std::unique_ptr<planning::SearchAgent> search;  // over the network; null: it decides itself
  bool has_value = false;
  model::ValueHeads heads = model::ValueHeads::kValue;
};

WatchedPolicy::WatchedPolicy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WatchedPolicy::WatchedPolicy(WatchedPolicy&&) noexcept = default;
WatchedPolicy& WatchedPolicy::operator=(WatchedPolicy&&) noexcept = default;
WatchedPolicy::~WatchedPolicy() = default;

WatchedPolicy WatchedPolicy::of_run(const env::TaskPtr& task, const std::filesystem::path& path) {
  return of_model(task, load_trained_run(path, task->spec()), RunDirectory::open(path).name());
}

WatchedPolicy WatchedPolicy::of_model(const env::TaskPtr& task, const TrainedRun& run,
                                      std::string name) {
  auto impl = std::make_unique<Impl>();
  impl->name = std::move(name);
  impl->warning = run.warning;
  impl->network = std::make_unique<TrainedAgent>(
      run.shape, run.valued ? *run.valued : run.parameters, task->spec().graphs);
  impl->has_value = run.valued.has_value() && learns_values(run.config);
  impl->heads = run.heads;
  return WatchedPolicy(std::move(impl));
}

WatchedPolicy WatchedPolicy::searching(const env::TaskPtr& task, const TrainedRun& run,
                                       std::string name, std::string_view settings) {
  WatchedPolicy policy = of_model(task, run, std::move(name));
  policy.impl_->search = search_agent(run, *task, settings);
  return policy;
}

WatchedPolicy WatchedPolicy::of_baseline(const env::TaskPtr& task, const std::string& name) {
  auto impl = std::make_unique<Impl>();
  impl->name = name;
  impl->rule = env::make_baseline(*task, name);
  return WatchedPolicy(std::move(impl));
}

const std::string& WatchedPolicy::name() const { return impl_->name; }

const std::string& WatchedPolicy::warning() const { return impl_->warning; }

void WatchedPolicy::reset(Seed seed) {
  if (impl_->rule) impl_->rule->reset(seed);
  if (impl_->search) impl_->search->reset(seed);
}

Opinion WatchedPolicy::ask(const env::Environment& environment) {
  if (impl_->rule) return {impl_->rule->act(environment), {}, {}, std::nullopt};
  const model::PolicyOutput& output = impl_->network->evaluate(environment);
  Opinion opinion;
  opinion.action = model::best_action(output.logits);
  if (impl_->heads == model::ValueHeads::kValue) {
    opinion.probabilities = probabilities_of(output.logits);
    if (impl_->has_value) opinion.value = output.values.front();
  } else if (impl_->has_value) {
    opinion.action_values = action_values_of(impl_->heads, output);
    opinion.value = opinion.action_values[static_cast<std::size_t>(opinion.action)];
  }
  if (!impl_->search) return opinion;
  opinion.action = impl_->search->act(environment);
  opinion.action_values.assign(output.logits.size(), std::numeric_limits<double>::quiet_NaN());
  for (const auto& tried : impl_->search->tried()) {
    opinion.action_values[static_cast<std::size_t>(tried.action)] = tried.value;
  }
  return opinion;
}

}  // namespace pacml::apps

#include <pacml/error.h>
#include <pacml/policy.h>

#include <algorithm>
#include <utility>

#include "api/guarded.h"
#include "api/state.h"
#include "apps/evaluation/model_file.h"
#include "apps/evaluation/watched_policy.h"
#include "common/base_name.h"
#include "common/result.h"

namespace pacml::api {
namespace {

apps::WatchedPolicy watched(const env::TaskPtr& task, const apps::TrainedRun& run,
                            const std::string& path, const PolicyOptions& options) {
  const std::string name = base_name(path);
  if (!options.search) return apps::WatchedPolicy::of_model(task, run, name);
  return apps::WatchedPolicy::searching(task, run, name, *options.search);
}

// Whether what one task's decisions show can be read as another's. Mostly they are of one task, or
// share its graphs, which is seen at once.
bool same_decisions(const env::EnvironmentSpec& a, const env::EnvironmentSpec& b) {
  return &a == &b || (a.task == b.task && a.observation == b.observation &&
                      (a.graphs == b.graphs || a.graph_hashes() == b.graph_hashes()));
}

}  // namespace

struct Policy::Impl {
  Task task;
  apps::WatchedPolicy policy;
};

Policy Policy::open(const std::string& path, const PolicyOptions& options) {
  return guarded([&] {
    const apps::Model model = apps::load_model(path, options.profiles);
    return Policy(std::make_unique<Impl>(
        Impl{Task::Impl::handle(model.task), watched(model.task, model.run, path, options)}));
  });
}

Policy Policy::open(const std::string& path, const Task& task, const PolicyOptions& options) {
  return guarded([&] {
    const env::TaskPtr& of = Task::Impl::of(task).task;
    const apps::TrainedRun run = apps::load_trained_policy(path, of->spec());
    return Policy(std::make_unique<Impl>(Impl{task, watched(of, run, path, options)}));
  });
}

Policy Policy::baseline(const Task& task, const std::string& name) {
  return guarded([&] {
    return Policy(std::make_unique<Impl>(
        Impl{task, apps::WatchedPolicy::of_baseline(Task::Impl::of(task).task, name)}));
  });
}

Policy::Policy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Policy::Policy(Policy&&) noexcept = default;
Policy& Policy::operator=(Policy&&) noexcept = default;
Policy::~Policy() = default;

const Task& Policy::task() const { return impl_->task; }

const std::string& Policy::warning() const { return impl_->policy.warning(); }

void Policy::reset(std::uint64_t seed) { impl_->policy.reset(Seed{seed}); }

Decision Policy::decide(const Environment& environment) {
  const Environment::Impl& state = Environment::Impl::of(environment);
  state.check_running();
  if (!same_decisions(Task::Impl::of(impl_->task).spec(), state.environment->spec())) {
    throw Error("the environment is of another task than the policy");
  }
  return guarded([&] {
    auto opinion = impl_->policy.ask(*state.environment);
    return Decision{opinion.action, std::move(opinion.probabilities),
                    std::move(opinion.action_values), opinion.value};
  });
}

}  // namespace pacml::api

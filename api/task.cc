#include <pacml/environment.h>
#include <pacml/error.h>

#include <utility>

#include "api/guarded.h"
#include "api/state.h"
#include "apps/run/train_config.h"
#include "common/result.h"
#include "env/metric.h"

namespace pacml::api {
namespace {

std::vector<Column> columns_of(std::span<const FeatureSpec> features) {
  std::vector<Column> out;
  for (const FeatureSpec& feature : features) out.push_back({feature.name, feature.unit});
  return out;
}

Better better_of(env::Better better) {
  switch (better) {
    case env::Better::kNeither:
      return Better::kNeither;
    case env::Better::kLower:
      return Better::kLower;
    case env::Better::kHigher:
      return Better::kHigher;
  }
  return Better::kNeither;
}

}  // namespace

Task::Impl::Impl(env::TaskPtr made) : task(std::move(made)) {
  const ObservationSpec& shown = spec().observation;
  globals = columns_of(shown.globals);
  view = spec().candidate_view ? spec().candidate_view : env::plain_view(shown);
  candidate_features = columns_of(view->features());
  situation_features = columns_of(view->situation());
  for (const SlotSpec& slot : shown.slots) slots.push_back(slot.name);
  for (const env::MetricSpec& metric : spec().metrics) {
    metrics.push_back({metric.name, metric.unit, better_of(metric.better)});
  }
}

Task Task::Impl::handle(env::TaskPtr task) {
  return Task(std::make_shared<const Impl>(std::move(task)));
}

const Task::Impl& Task::Impl::of(const Task& task) { return *task.impl_; }

Task Task::from_file(const std::string& file, const std::vector<std::string>& changes,
                     const std::string& profiles) {
  return guarded(
      [&] { return Impl::handle(apps::load_train_config(file, changes, profiles).env.make()); });
}

const std::string& Task::name() const { return impl_->spec().task; }
int Task::num_actions() const { return impl_->spec().num_actions(); }
int Task::num_agents() const { return static_cast<int>(impl_->spec().observation.agents); }
const std::vector<Column>& Task::globals() const { return impl_->globals; }
const std::vector<Column>& Task::candidate_features() const { return impl_->candidate_features; }
const std::vector<Column>& Task::situation_features() const { return impl_->situation_features; }
const std::vector<std::string>& Task::slots() const { return impl_->slots; }
int Task::num_graphs() const { return static_cast<int>(impl_->spec().graphs.size()); }
const std::vector<Metric>& Task::metrics() const { return impl_->metrics; }

Graph Task::graph(int index) const {
  if (index < 0 || index >= num_graphs()) {
    throw Error("there is no graph " + std::to_string(index) + " of " +
                std::to_string(num_graphs()));
  }
  const auto number = static_cast<std::size_t>(index);
  const env::GraphFeatures& graph = *impl_->spec().graphs[number];
  return {&impl_->spec().graph_names[number],
          graph.num_nodes,
          graph.num_edges,
          graph.node_width,
          graph.edge_width,
          graph.node_features,
          graph.edge_features,
          graph.edge_src,
          graph.edge_dst};
}

std::vector<std::string> Task::baselines() const {
  std::vector<std::string> names;
  for (const auto& baseline : impl_->task->baselines()) {
    if (!baseline.best_of.empty()) continue;
    try {
      static_cast<void>(impl_->task->make_agent(baseline.name));
    } catch (const UserError&) {
      continue;  // it needs an argument
    }
    names.push_back(baseline.name);
  }
  return names;
}

}  // namespace pacml::api

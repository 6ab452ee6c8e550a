#include "learner/transition_batch.h"

#include "common/check.h"

namespace pacml::learner {
namespace {

void fit(env::ObservationBatch& states, std::size_t rows, const TransitionShape& shape) {
  if (states.num_globals() != shape.num_globals || states.num_actions() != shape.num_actions) {
    states = env::ObservationBatch(0, static_cast<int>(shape.num_globals),
                                   static_cast<int>(shape.num_actions));
  }
  states.resize(rows);
}

}  // namespace

void assemble(const Transitions& transitions, std::span<const double> probabilities,
              const GraphRegistry& graphs, TransitionBatch& batch) {
  const std::size_t rows = transitions.size();
  PACML_CHECK(probabilities.size() == rows, "every draw has its probability");
  const std::vector<std::int32_t> graph_index = graphs.indices(transitions.graphs);
  fit(batch.states, rows, transitions.shape);
  fit(batch.next_states, rows, transitions.shape);
  batch.actions.resize(rows);
  batch.n_step_returns.resize(rows);
  batch.discounts.resize(rows);
  batch.policy_versions.resize(rows);
  batch.probabilities.assign(probabilities.begin(), probabilities.end());
  for (std::size_t n = 0; n < rows; ++n) {
    const auto row = transitions.row(n);
    const TransitionHead head = read_head(row);
    const auto state = batch.states.row(n);
    const auto next = batch.next_states.row(n);
    state.graph = graph_index[head.graph];
    next.graph = graph_index[head.next_graph];
    read_state(row, transitions.shape, false, state.globals, state.mask);
    read_state(row, transitions.shape, true, next.globals, next.mask);
    batch.actions[n] = head.action;
    batch.n_step_returns[n] = head.n_step_return;
    batch.discounts[n] = head.discount;
    batch.policy_versions[n] = head.policy_version;
  }
}

}  // namespace pacml::learner

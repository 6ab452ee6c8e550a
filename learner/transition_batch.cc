#include "learner/transition_batch.h"

#include "common/check.h"

namespace pacml::learner {
namespace {

void start(Observations& states, std::size_t rows, const ObservationShape& shape) {
  if (states.shape() != shape) states = Observations(shape);
  states.clear();
  states.reserve(rows);
}

}  // namespace

void assemble(const Transitions& transitions, std::span<const double> probabilities,
              const GraphRegistry& graphs, TransitionBatch& batch) {
  const std::size_t rows = transitions.size();
  PACML_CHECK(probabilities.size() == rows, "every draw has its probability");
  const Observations& observations = transitions.observations;
  const std::vector<std::uint16_t> graph_index = graphs.indices(observations.graphs());
  start(batch.states, rows, observations.shape());
  start(batch.next_states, rows, observations.shape());
  batch.actions.resize(rows);
  batch.n_step_returns.resize(rows);
  batch.discounted_times.resize(rows);
  batch.discounts.resize(rows);
  batch.policy_versions.resize(rows);
  batch.probabilities.assign(probabilities.begin(), probabilities.end());
  for (std::size_t n = 0; n < rows; ++n) {
    const TransitionHead& head = transitions.heads[n];
    batch.states.append_rows(observations, Transitions::state(n), 1, graph_index);
    batch.next_states.append_rows(observations, Transitions::next_state(n), 1, graph_index);
    batch.actions[n] = head.action;
    batch.n_step_returns[n] = head.n_step_return;
    batch.discounted_times[n] = head.discounted_time;
    batch.discounts[n] = head.discount;
    batch.policy_versions[n] = head.policy_version;
  }
}

}  // namespace pacml::learner

#include "actor/nstep_writer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/check.h"

namespace pacml::actor {
namespace {

TransitionState row_of(const env::ObservationBatch& observations, std::size_t row) {
  return {static_cast<std::uint16_t>(observations.graph(row)), observations.globals(row),
          observations.mask(row)};
}

}  // namespace

NstepWriter::NstepWriter(const env::EnvironmentSpec& spec, std::size_t environments,
                         std::size_t steps, const NstepConfig& config)
    : steps_(steps),
      n_(static_cast<std::size_t>(config.n_step)),
      environments_(environments),
      shape_{static_cast<std::uint32_t>(spec.num_globals),
             static_cast<std::uint32_t>(spec.num_actions)},
      reward_scale_(static_cast<float>(config.reward_scale)),
      windows_(environments),
      decisions_(environments * n_),
      globals_(environments * n_ * shape_.num_globals),
      masks_(environments * n_ * shape_.num_actions) {
  for (const auto& graph : spec.graphs) graphs_.push_back(graph->hash);
  for (std::size_t k = 0; k <= n_; ++k) {
    powers_.push_back(std::pow(config.discount, static_cast<double>(k)));
  }
  std::iota(environments_.begin(), environments_.end(), std::size_t{0});
  start();
}

void NstepWriter::begin(std::span<const std::size_t> environments) {
  PACML_CHECK(steps_done_ == 0, "a message is of the same environments until it is taken");
  if (std::ranges::equal(environments, environments_)) return;
  environments_.assign(environments.begin(), environments.end());
  start();
}

void NstepWriter::start() {
  // Every step closes at most one window per environment, and those that were open before.
  const std::size_t most = (steps_ + n_) * environments_.size();
  message_ = {};
  message_.transitions.shape = shape_;
  message_.transitions.graphs = graphs_;
  message_.transitions.rows.reserve(most * shape_.row_bytes());
  message_.priorities.reserve(most);
  steps_done_ = 0;
}

TransitionState NstepWriter::state_in(std::size_t slot) const {
  return {decisions_[slot].graph,
          std::span(globals_).subspan(slot * shape_.num_globals, shape_.num_globals),
          std::span(masks_).subspan(slot * shape_.num_actions, shape_.num_actions)};
}

void NstepWriter::observe(const env::ObservationBatch& observations,
                          std::span<const float> best_values) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  PACML_CHECK(
      observations.size() == environments_.size() && best_values.size() == environments_.size(),
      "one observation and its value for each environment");
  for (std::size_t row = 0; row < environments_.size(); ++row) {
    const std::size_t b = environments_[row];
    const TransitionState state = row_of(observations, row);
    if (windows_[b].open == n_) {
      close_oldest(b, static_cast<float>(powers_[n_]), state, best_values[row]);
    }
    const std::size_t free = slot(b, windows_[b].open);
    decisions_[free].graph = state.graph;
    std::ranges::copy(state.globals,
                      globals_.begin() + static_cast<std::ptrdiff_t>(free * shape_.num_globals));
    std::ranges::copy(state.mask,
                      masks_.begin() + static_cast<std::ptrdiff_t>(free * shape_.num_actions));
  }
}

void NstepWriter::step(std::span<const int> actions, std::span<const float> action_values,
                       PolicyVersion version, std::span<const env::StepResult> results,
                       std::span<const VectorEnv::Finished> finished,
                       const env::ObservationBatch& last_observations,
                       std::span<const float> last_best_values) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  for (std::size_t row = 0; row < environments_.size(); ++row) {
    const std::size_t b = environments_[row];
    Decision& decision = decisions_[slot(b, windows_[b].open++)];
    decision.version = version;
    decision.value = action_values[row];
    decision.reward = results[row].reward * reward_scale_;
    decision.action = static_cast<std::int16_t>(actions[row]);
  }
  for (std::size_t f = 0; f < finished.size(); ++f) {
    const auto& [row, summary] = finished[f];
    const std::size_t b = environments_[row];
    message_.episodes.push_back({summary.episode_return, summary.decisions, summary.arrived,
                                 summary.completed, summary.blocked});
    while (windows_[b].open > 0) {
      if (results[row].terminated) {
        close_oldest(b, 0, state_in(slot(b, 0)), 0);
      } else {
        close_oldest(b, static_cast<float>(powers_[windows_[b].open]), row_of(last_observations, f),
                     last_best_values[f]);
      }
    }
  }
  ++steps_done_;
}

void NstepWriter::close_oldest(std::size_t b, float discount, const TransitionState& next,
                               float next_value) {
  Window& window = windows_[b];
  const std::size_t first = slot(b, 0);
  double sum = 0;
  for (std::size_t i = 0; i < window.open; ++i) {
    sum += powers_[i] * static_cast<double>(decisions_[slot(b, i)].reward);
  }
  const Decision& decision = decisions_[first];
  TransitionHead head;
  head.policy_version = decision.version;
  head.n_step_return = static_cast<float>(sum);
  head.discount = discount;
  head.graph = decision.graph;
  head.next_graph = next.graph;
  head.action = decision.action;
  head.steps = static_cast<std::uint16_t>(window.open);
  message_.transitions.append(head, state_in(first), next);
  message_.priorities.push_back(
      std::abs(head.n_step_return + head.discount * next_value - decision.value));
  window.oldest = (window.oldest + 1) % n_;
  --window.open;
}

PrioritizedTransitions NstepWriter::take() {
  PACML_CHECK(full(), "only a full message is taken");
  PrioritizedTransitions done = std::move(message_);
  start();
  return done;
}

}  // namespace pacml::actor

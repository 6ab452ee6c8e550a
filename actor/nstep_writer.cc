#include "actor/nstep_writer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/check.h"

namespace pacml::actor {

NstepWriter::NstepWriter(const env::EnvironmentSpec& spec, std::size_t environments,
                         std::size_t steps, const NstepConfig& config)
    : steps_(steps),
      n_(static_cast<std::size_t>(config.n_step)),
      environments_(environments),
      nothing_(spec.make_observations()),
      reward_scale_(static_cast<float>(config.reward_scale)),
      windows_(environments),
      decisions_(environments * n_),
      states_(environments * n_, nothing_) {
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
  message_.transitions.observations = nothing_;
  message_.transitions.observations.reserve(2 * most);
  message_.transitions.heads.reserve(most);
  message_.priorities.reserve(most);
  steps_done_ = 0;
}

void NstepWriter::observe(const Observations& observations, std::span<const float> best_values) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  PACML_CHECK(
      observations.size() == environments_.size() && best_values.size() == environments_.size(),
      "one observation and its value for each environment");
  for (std::size_t row = 0; row < environments_.size(); ++row) {
    const std::size_t b = environments_[row];
    if (windows_[b].open == n_) {
      close_oldest(b, static_cast<float>(powers_[n_]), observations, row, best_values[row]);
    }
    Observations& state = states_[slot(b, windows_[b].open)];
    state.clear();
    state.append_row(observations, row);
  }
}

void NstepWriter::step(std::span<const int> actions, std::span<const float> action_values,
                       PolicyVersion version, std::span<const env::StepResult> results,
                       std::span<const VectorEnv::Finished> finished,
                       const Observations& last_observations,
                       std::span<const float> last_best_values) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  for (std::size_t row = 0; row < environments_.size(); ++row) {
    const std::size_t b = environments_[row];
    Decision& decision = decisions_[slot(b, windows_[b].open++)];
    decision.version = version;
    decision.value = action_values[row];
    decision.reward = results[row].reward * reward_scale_;
    decision.action = actions[row];
  }
  for (std::size_t f = 0; f < finished.size(); ++f) {
    const auto& [row, summary] = finished[f];
    const std::size_t b = environments_[row];
    message_.episodes.push_back(summary);
    while (windows_[b].open > 0) {
      if (results[row].terminated) {
        close_oldest(b, 0, states_[slot(b, 0)], 0, 0);
      } else {
        close_oldest(b, static_cast<float>(powers_[windows_[b].open]), last_observations, f,
                     last_best_values[f]);
      }
    }
  }
  ++steps_done_;
}

void NstepWriter::close_oldest(std::size_t b, float discount, const Observations& next,
                               std::size_t next_row, float next_value) {
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
  head.action = decision.action;
  head.steps = static_cast<std::uint32_t>(window.open);
  message_.transitions.append(head, states_[first], 0, next, next_row);
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

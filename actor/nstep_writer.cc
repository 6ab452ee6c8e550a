#include "actor/nstep_writer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/check.h"
#include "env/feature_check.h"

namespace pacml::actor {

NstepWriter::NstepWriter(const env::EnvironmentSpec& spec, std::size_t environments,
                         std::size_t steps, const NstepConfig& config)
    : task_(spec.task),
      steps_(steps),
      n_(static_cast<std::size_t>(config.n_step)),
      environments_(environments),
      nothing_(spec.make_observations()),
      reward_scale_(static_cast<float>(config.reward_scale)),
      gamma_(config.discount),
      windows_(environments) {
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
  // Every step closes at most one window per environment, and those that were open before. With
  // several agents more may have been open: then the message grows.
  const std::size_t most = (steps_ + n_) * environments_.size();
  message_ = {};
  message_.transitions.observations = nothing_;
  message_.transitions.observations.reserve(2 * most);
  message_.transitions.heads.reserve(most);
  message_.priorities.reserve(most);
  steps_done_ = 0;
}

NstepWriter::Window& NstepWriter::window(std::size_t environment, int agent) {
  auto& windows = windows_[environment];
  const auto index = static_cast<std::size_t>(agent);
  while (windows.size() <= index) {
    Window& fresh = windows.emplace_back();
    fresh.decisions.resize(n_);
    fresh.states.assign(n_, nothing_);
  }
  return windows[index];
}

double NstepWriter::discount(double elapsed) const {
  const auto whole = static_cast<std::size_t>(std::min(elapsed, static_cast<double>(n_)));
  if (static_cast<double>(whole) == elapsed) return powers_[whole];
  return std::pow(gamma_, elapsed);
}

void NstepWriter::observe(const Observations& observations, std::span<const int> agents,
                          std::span<const float> best_values) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  PACML_CHECK(observations.size() == environments_.size() &&
                  agents.size() == environments_.size() &&
                  best_values.size() == environments_.size(),
              "one observation, its agent and its value for each environment");
  for (std::size_t row = 0; row < environments_.size(); ++row) {
    Window& mine = window(environments_[row], agents[row]);
    if (mine.open == n_) close_oldest(mine, false, observations, row, best_values[row]);
    Observations& state = mine.states[mine.slot(mine.open)];
    state.clear();
    state.append_row(observations, row);
  }
  agents_.assign(agents.begin(), agents.end());
}

void NstepWriter::step(std::span<const int> actions, std::span<const float> action_values,
                       PolicyVersion version, const VectorEnv::Outcome& outcome,
                       std::span<const float> last_best_values) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  for (std::size_t row = 0; row < environments_.size(); ++row) {
    const env::StepResult& result = outcome.results[row];
    Window& mine = window(environments_[row], agents_[row]);
    ++mine.open;
    mine.last() = {.version = version,
                   .value = action_values[row],
                   .action = actions[row],
                   .reward = result.reward * reward_scale_};
    for (Window& any : windows_[environments_[row]]) {
      if (any.open > 0) any.last().elapsed += result.elapsed;
    }
  }
  for (const auto& [row, other] : outcome.other_rewards) {
    Window& theirs = window(environments_[row], other.agent);
    if (theirs.open > 0) theirs.last().reward += other.reward * reward_scale_;
  }
  std::size_t last = 0;
  for (const auto& [row, summary] : outcome.finished) {
    message_.episodes.push_back(summary);
    for (; last < outcome.last_states.size() && outcome.last_states[last].row == row; ++last) {
      Window& cut = window(environments_[row], outcome.last_states[last].agent);
      while (cut.open > 0) {
        close_oldest(cut, false, outcome.last_observations, last, last_best_values[last]);
      }
    }
    for (Window& any : windows_[environments_[row]]) {
      while (any.open > 0) close_oldest(any, true, any.states[any.slot(0)], 0, 0);
    }
  }
  ++steps_done_;
}

void NstepWriter::close_oldest(Window& window, bool terminated, const Observations& next,
                               std::size_t next_row, float next_value) {
  double sum = 0;
  double time = 0;
  double elapsed = 0;
  for (std::size_t i = 0; i < window.open; ++i) {
    const Decision& decision = window.decisions[window.slot(i)];
    sum += discount(elapsed) * decision.reward;
    time += discount(elapsed) * decision.elapsed;
    elapsed += decision.elapsed;
  }
  const Decision& decision = window.decisions[window.slot(0)];
  TransitionHead head;
  head.policy_version = decision.version;
  head.n_step_return = env::finite_reward(task_, sum);
  head.discount = terminated ? 0 : static_cast<float>(discount(elapsed));
  head.action = decision.action;
  head.discounted_time = static_cast<float>(time);
  message_.transitions.append(head, window.states[window.slot(0)], 0, next, next_row);
  message_.priorities.push_back(
      std::abs(head.n_step_return + head.discount * next_value - decision.value));
  window.oldest = window.slot(1);
  --window.open;
}

PrioritizedTransitions NstepWriter::take() {
  PACML_CHECK(full(), "only a full message is taken");
  PrioritizedTransitions done = std::move(message_);
  start();
  return done;
}

}  // namespace pacml::actor

#include "actor/expert_behaviour.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/check.h"
#include "env/feature_check.h"
#include "model/duelling.h"

namespace pacml::actor {
namespace {

// Imagined ones that are played together, and some more: each takes memory, a kilobyte or a whole
// environment's.
constexpr std::size_t kWorldsAtOnce = 1U << 13U;

}  // namespace

ExpertBehaviour::ExpertBehaviour(const env::EnvironmentSpec& spec, const ActorConfig& config,
                                 const ExpertConfig& expert,
                                 std::unique_ptr<planning::RolloutPolicy> policy, Seed seed)
    : expert_(expert),
      writer_(spec, static_cast<std::size_t>(config.environments),
              static_cast<std::size_t>(config.unroll_length)),
      policy_(std::move(policy)),
      rollouts_(expert.discount, *policy_),
      exploration_(derive(seed, Purpose::kExploration, 0)),
      futures_(derive(seed, Purpose::kHeuristic, 0)),
      actions_(static_cast<std::size_t>(config.environments)),
      log_probs_(actions_.size()) {
  PACML_CHECK(validate(expert).empty(), "a valid configuration");
}

void ExpertBehaviour::begin(std::span<const std::size_t> environments) {
  writer_.begin(environments);
  actions_.resize(environments.size());
  log_probs_.resize(environments.size());
}

std::span<const int> ExpertBehaviour::choose(const VectorEnv& environments,
                                             const model::PolicyOutput& output,
                                             PolicyVersion version) {
  version_ = version;
  const Observations& observations = environments.observations();
  search(environments);
  writer_.observe(observations, environments.agents());
  const std::size_t width = observations.num_candidates();
  for (std::size_t b = 0; b < actions_.size(); ++b) {
    const auto valid = row_of<const int>(valid_, b);
    const int best =
        model::best_valid_action(std::span<const float>(output.logits).subspan(b * width, width));
    actions_[b] = exploration_.uniform() < expert_.exploration
                      ? valid[exploration_.below(valid.size())]
                      : best;
    const double random = expert_.exploration / static_cast<double>(valid.size());
    log_probs_[b] = static_cast<float>(
        std::log(actions_[b] == best ? 1 - expert_.exploration + random : random));
  }
  return actions_;
}

void ExpertBehaviour::search(const VectorEnv& environments) {
  const Observations& observations = environments.observations();
  valid_.clear();
  ends_.clear();
  for (std::size_t b = 0; b < actions_.size(); ++b) {
    const auto mask = observations.mask(b);
    for (std::size_t a = 0; a < mask.size(); ++a) {
      if (mask[a] != 0) valid_.push_back(static_cast<int>(a));
    }
    ends_.push_back(valid_.size());
  }
  // The first futures of all only say what is usual.
  if (expert_.centre_rewards && !paced_) play_futures(environments);
  paced_ = true;
  play_futures(environments);
  action_values_.resize(sums_.size());
  const std::string& task = environments.spec().task;
  std::ranges::transform(sums_, action_values_.begin(), [&](double sum) {
    return env::finite_reward(task, sum / static_cast<double>(expert_.futures));
  });
}

void ExpertBehaviour::play_futures(const VectorEnv& environments) {
  const bool begins = version_.get() < static_cast<std::uint64_t>(expert_.first_versions);
  const auto horizon =
      static_cast<int>(begins ? std::max(expert_.horizon, expert_.first_horizon) : expert_.horizon);
  const double rate = expert_.centre_rewards && pace_.elapsed > 0 ? pace_.rate() : 0;
  planning::Rollouts::Pace pace;
  const auto play = [&] {
    rollouts_.play(horizon, rate);
    pace += rollouts_.pace();
  };
  sums_.assign(valid_.size(), 0.0);
  for (std::size_t b = 0; b < actions_.size(); ++b) {
    const Seed decision{futures_.next()};
    for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(expert_.futures); ++k) {
      rollouts_.add(environments.environment(b), row_of<const int>(valid_, b),
                    derive(decision, Purpose::kEpisode, k), row_of<double>(sums_, b));
      if (rollouts_.size() >= kWorldsAtOnce) play();
    }
  }
  if (rollouts_.size() > 0) play();
  pace_.fade();
  pace_ += pace;
}

void ExpertBehaviour::record(const VectorEnv::Outcome& outcome) {
  writer_.step(actions_, log_probs_, version_, outcome, action_values_);
}

ActorMessage ExpertBehaviour::take(const VectorEnv& environments) {
  return writer_.take(environments.observations(), environments.agents());
}

}  // namespace pacml::actor

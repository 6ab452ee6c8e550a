#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "env/agent.h"
#include "model/network_config.h"
#include "model/parameters.h"
#include "model/policy.h"
#include "model/value_heads.h"

namespace pacml::planning {

// Who decides in an imagined future, in many of them at once, and what it makes of a state.
// Thread-confined.
class RolloutPolicy {
 public:
  virtual ~RolloutPolicy() = default;
  // Called at the start of an episode, so that what a policy draws is a function of the seed.
  virtual void reset(Seed /*seed*/) {}
  // A valid action for the current decision of each environment. `actions` [environments].
  virtual void act(std::span<const env::Environment* const> environments,
                   std::span<int> actions) = 0;
  // What is expected to come after the current decision of each, in the unit of rewards; 0 where
  // the policy has no notion of it. `values` [environments].
  virtual void evaluate(std::span<const env::Environment* const> environments,
                        std::span<double> values) = 0;
  // The same of episodes that have been cut, for one of the agents that decided in each. `agents`
  // and `values` [environments]. To be overridden where a policy has a notion of it and tasks may
  // have several agents.
  virtual void evaluate_cut(std::span<const env::Environment* const> environments,
                            std::span<const int> /*agents*/, std::span<double> values) {
    evaluate(environments, values);
  }
  // What it says that each action of a decision is worth, up to a number that all have in common,
  // in the unit of rewards; what it says of those that are not valid counts nothing. nullopt: the
  // policy has no notion of it.
  [[nodiscard]] virtual std::optional<std::vector<double>> action_values(
      const env::Environment& /*environment*/) {
    return std::nullopt;
  }
  // How likely it would take each action of a decision: logs of probabilities, lower than any that
  // counts where an action is not valid. nullopt: the policy tells no action from another.
  [[nodiscard]] virtual std::optional<std::vector<float>> log_probabilities(
      const env::Environment& environment) = 0;
};

// A rule decides.
[[nodiscard]] std::unique_ptr<RolloutPolicy> make_rule_policy(std::unique_ptr<env::Agent> rule);

// A network takes its most probable actions, one pass for all environments. `parameters`: those
// whose values are in the unit of rewards. UnsoundOutput, when it is asked: the network says
// nothing that can be acted upon.
[[nodiscard]] std::unique_ptr<RolloutPolicy> make_network_policy(
    const model::NetworkShape& shape, const model::Parameters& parameters, model::ValueHeads heads,
    std::span<const env::GraphFeaturesPtr> graphs);

// The same by a network that somebody else has, and gives its graphs and weights, whose values are
// in the unit of rewards. Borrows it. `inputs`: what it reads.
[[nodiscard]] std::unique_ptr<RolloutPolicy> make_network_policy(model::Policy& network,
                                                                 const ObservationShape& inputs,
                                                                 model::ValueHeads heads);

}  // namespace pacml::planning

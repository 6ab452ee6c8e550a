#include "apps/roles/composition.h"

#include <utility>
#include <vector>

#include "actor/apex_behaviour.h"
#include "actor/expert_behaviour.h"
#include "actor/exploration.h"
#include "actor/impala_behaviour.h"
#include "learner/apex_dqn.h"
#include "learner/expert_iteration.h"
#include "learner/impala.h"
#include "learner/ppo.h"
#include "learner/reinforce.h"
#include "learner/replay_updates.h"
#include "learner/sequence_updates.h"
#include "model/fused_policy.h"
#include "model/parallel_network.h"
#include "model/value_heads.h"
#include "planning/rollout_policy.h"

namespace pacml::apps {

namespace {

// How actor `id` acts and what it records.
std::unique_ptr<actor::Behaviour> make_behaviour(const TrainConfig& config,
                                                 const env::EnvironmentSpec& spec, ActorId id,
                                                 model::Policy& policy, Seed seed) {
  if (config.algorithm == AlgorithmKind::kExpertIteration) {
    return std::make_unique<actor::ExpertBehaviour>(
        spec, config.actor, config.expert,
        planning::make_network_policy(policy, spec.observation.shape(),
                                      model::ValueHeads::kActions),
        seed);
  }
  if (!uses_replay(config.algorithm)) {
    return std::make_unique<actor::ImpalaBehaviour>(spec, config.actor, seed,
                                                    static_cast<std::size_t>(held_back(config)));
  }
  auto epsilons = actor::ladder_of(config.exploration, id, static_cast<std::size_t>(config.actors),
                                   static_cast<std::size_t>(config.actor.environments));
  return std::make_unique<actor::ApexBehaviour>(
      spec, config.actor, config.transitions,
      actor::EpsilonGreedy(std::move(epsilons), config.exploration.persistence, seed), policy,
      config.apex.heads);
}

std::unique_ptr<learner::SequenceAlgorithm> make_sequence_algorithm(
    const TrainConfig& config, model::TrainableNetwork& network, learner::ReplicaGroup& replicas) {
  const Seed seed{static_cast<std::uint64_t>(config.seed)};
  if (config.algorithm == AlgorithmKind::kPpo) {
    return std::make_unique<learner::Ppo>(config.ppo, network, seed);
  }
  if (config.algorithm == AlgorithmKind::kExpertIteration) {
    return std::make_unique<learner::ExpertIteration>(config.expert_iteration, network, seed,
                                                      config.expert.centre_rewards);
  }
  if (config.algorithm == AlgorithmKind::kReinforce) {
    return std::make_unique<learner::Reinforce>(config.reinforce, network);
  }
  return std::make_unique<learner::Impala>(config.impala, network, replicas);
}

}  // namespace

std::unique_ptr<model::TrainableNetwork> make_network_on(std::int64_t threads,
                                                         const NetworkFactory& make_network,
                                                         const model::NetworkShape& shape) {
  if (threads == 1) return make_network(shape);
  std::vector<std::unique_ptr<model::TrainableNetwork>> networks;
  for (std::int64_t i = 0; i < threads; ++i) networks.push_back(make_network(shape));
  return std::make_unique<model::ParallelNetwork>(std::move(networks));
}

std::unique_ptr<actor::ActorLoop> make_actor_loop(const TrainConfig& config, const env::Task& task,
                                                  model::Policy& policy, ActorId id, Seed seed) {
  auto behaviour = make_behaviour(config, task.spec(), id, policy, seed);
  return std::make_unique<actor::ActorLoop>(config.actor, task.make_factory(), policy,
                                            std::move(behaviour), seed);
}

Learning make_learning(const TrainConfig& config, model::TrainableNetwork& network,
                       const ExperienceSource& source, learner::ReplicaGroup& replicas) {
  Learning learning;
  if (!uses_replay(config.algorithm)) {
    auto algorithm = make_sequence_algorithm(config, network, replicas);
    learning.updates = std::make_unique<learner::SequenceUpdates>(
        *algorithm, network.shape(), *std::get<learner::SampleSource*>(source),
        update_size_of(config).batch_decisions);
    learning.algorithm = std::move(algorithm);
    return learning;
  }
  learning.online = model::make_fused_policy(network.shape());
  learning.target = model::make_fused_policy(network.shape());
  auto apex = std::make_unique<learner::ApexDqn>(config.apex, network, *learning.online,
                                                 *learning.target, replicas);
  learning.updates = std::make_unique<learner::ReplayUpdates>(
      *apex, network.shape(), *std::get<learner::TransitionSource*>(source));
  learning.algorithm = std::move(apex);
  return learning;
}

}  // namespace pacml::apps

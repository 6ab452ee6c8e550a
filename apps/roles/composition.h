#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>

#include "actor/actor_loop.h"
#include "apps/run/train_config.h"
#include "env/task.h"
#include "learner/algorithm.h"
#include "learner/replicas/replica_group.h"
#include "learner/sample_source.h"
#include "learner/transition_source.h"
#include "learner/updates.h"
#include "model/policy.h"
#include "model/trainable_network.h"

// What an algorithm is made of, on either side of the wire. Another algorithm is another case here.
namespace pacml::apps {

// How a learner makes its network: the one part that needs LibTorch.
using NetworkFactory =
    std::function<std::unique_ptr<model::TrainableNetwork>(const model::NetworkShape&)>;
// A network that computes on so many threads.
[[nodiscard]] std::unique_ptr<model::TrainableNetwork> make_network_on(
    std::int64_t threads, const NetworkFactory& make_network, const model::NetworkShape& shape);

// The loop of actor `id` with the behaviour that the algorithm asks for. `seed`: actor_seed().
// Borrows `policy`.
[[nodiscard]] std::unique_ptr<actor::ActorLoop> make_actor_loop(const TrainConfig& config,
                                                                const env::Task& task,
                                                                model::Policy& policy, ActorId id,
                                                                Seed seed);

// Where experience comes from: in sequences, each learned from once, or out of a replay.
using ExperienceSource = std::variant<learner::SampleSource*, learner::TransitionSource*>;

struct Learning {
  // For passes without gradient, where the algorithm makes such.
  std::unique_ptr<model::Policy> online;
  std::unique_ptr<model::Policy> target;
  std::unique_ptr<learner::Algorithm> algorithm;
  std::unique_ptr<learner::Updates> updates;
};

// Borrows network, source and replicas. Pre: the source is of the kind that the algorithm learns
// from.
[[nodiscard]] Learning make_learning(const TrainConfig& config, model::TrainableNetwork& network,
                                     const ExperienceSource& source,
                                     learner::ReplicaGroup& replicas = learner::alone());

}  // namespace pacml::apps

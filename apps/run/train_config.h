#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "actor/actor_config.h"
#include "actor/expert_config.h"
#include "actor/exploration.h"
#include "actor/nstep_config.h"
#include "apps/run/supervision_config.h"
#include "apps/run/warm_start_config.h"
#include "common/config/fields.h"
#include "common/config/source.h"
#include "common/transport/patience_config.h"
#include "common/transport/security_config.h"
#include "common/transport/socket_config.h"
#include "env/agent.h"
#include "env/task.h"
#include "env/task_config.h"
#include "learner/apex_config.h"
#include "learner/expert_iteration_config.h"
#include "learner/impala_config.h"
#include "learner/learner_config.h"
#include "learner/ppo_config.h"
#include "learner/reinforce_config.h"
#include "learner/wanted_work.h"
#include "model/network_config.h"
#include "replay/replay_config.h"

namespace pacml::apps {

enum class AlgorithmKind { kImpala, kPpo, kApex, kExpertIteration, kReinforce };
constexpr auto enum_names(AlgorithmKind) {
  return std::to_array<EnumName<AlgorithmKind>>(
      {{"impala", AlgorithmKind::kImpala},
       {"ppo", AlgorithmKind::kPpo},
       {"apex", AlgorithmKind::kApex},
       {"expert_iteration", AlgorithmKind::kExpertIteration},
       {"reinforce", AlgorithmKind::kReinforce}});
}
// Its experience are transitions that wait in replay shards until they are drawn; that of the
// others are sequences, which actors send to learners.
constexpr bool uses_replay(AlgorithmKind algorithm) { return algorithm == AlgorithmKind::kApex; }

inline constexpr std::int64_t kMostActors = 4096;  // of a launch

// Everything that a training run is made of: one struct per module, each documented where it is
// defined.
struct TrainConfig {
  std::int64_t seed = 0;  // of the run; every random stream derives from it
  AlgorithmKind algorithm = AlgorithmKind::kImpala;
  std::int64_t actors = 1;  // at the launch, which starts as many processes; they share exploration
  env::TaskConfig env;
  model::NetworkConfig network;
  WarmStartConfig warm_start;
  actor::ActorConfig actor;
  learner::ImpalaConfig impala;          // algorithm: impala
  learner::PpoConfig ppo;                // algorithm: ppo
  learner::ApexConfig apex;              // algorithm: apex, and the next three
  actor::ExplorationConfig exploration;  // ... of its actors
  actor::NstepConfig transitions;        // ... of its actors
  replay::ReplayConfig replay;
  learner::ExpertIterationConfig expert_iteration;  // algorithm: expert_iteration, and the next
  actor::ExpertConfig expert;                       // ... of its actors
  learner::ReinforceConfig reinforce;               // algorithm: reinforce
  learner::LearnerConfig learner;
  transport::SocketConfig transport;
  transport::PatienceConfig patience;
  transport::SecurityConfig security;
  SupervisionConfig supervision;
  bool operator==(const TrainConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, TrainConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("seed", c.seed);
  v("algorithm", c.algorithm);
  v("actors", c.actors);
  v("env", c.env);
  v("network", c.network);
  v("warm_start", c.warm_start);
  v("actor", c.actor);
  v("impala", c.impala);
  v("ppo", c.ppo);
  v("apex", c.apex);
  v("exploration", c.exploration);
  v("transitions", c.transitions);
  v("replay", c.replay);
  v("expert_iteration", c.expert_iteration);
  v("expert", c.expert);
  v("reinforce", c.reinforce);
  v("learner", c.learner);
  v("transport", c.transport);
  v("patience", c.patience);
  v("security", c.security);
  v("supervision", c.supervision);
}

[[nodiscard]] std::vector<std::string> validate(const TrainConfig& config);

// Whether the task that it is about is code, which even a look at what its decisions show runs.
[[nodiscard]] bool names_code(const ConfigSource& source);

// All but the task, which is as if nothing were said of it: each section is checked by itself.
// UserError: as read_config.
[[nodiscard]] TrainConfig read_config_without_task(const ConfigSource& source);

// Of the algorithm; Ape-X has no batches of unrolls, but actors whose weights grow old.
[[nodiscard]] learner::UpdateSize update_size_of(const TrainConfig& config);

// How many decisions of a stream actors hold back until their episode ends: 0 but for REINFORCE.
[[nodiscard]] std::int64_t held_back(const TrainConfig& config);

// Reads a configuration file with `--set` overrides; `profiles` replaces env.profiles when not
// empty. UserError names file, line and key.
[[nodiscard]] TrainConfig load_train_config(const std::string& path,
                                            const std::vector<std::string>& overrides,
                                            const std::string& profiles);

// UserError: a replay table's bytes cannot hold the transitions of this task that it waits for
// before the first draw. Nothing to check where the algorithm does not replay.
void check_replay_fits(const TrainConfig& config, const env::Task& task);

// For how long a thread of a learner may be silent before it hangs; 0: for ever. Who computes
// together may wait for the slowest, and does not hang.
[[nodiscard]] Duration silence_of(const TrainConfig& config);

// Whom a warm start imitates; nullptr: nobody. UserError: the task has no such baseline.
[[nodiscard]] std::unique_ptr<env::Agent> make_teacher(const TrainConfig& config,
                                                       const env::Task& task);

// UserError: what only the task shows to be wrong, such as the above, or messages that would not
// get through (check_messages_fit). Its roles find the same, but by then they have been started.
void check_against_task(const TrainConfig& config, const env::Task& task);

// What the processes of a run must agree on: the algorithm, the task, the network, what is in the
// job graphs and in other files that the task reads, and what the transitions of a replay, or what
// searches found, means. Where the profiles and the keys lie may differ from host to host.
struct Agreement {
  AlgorithmKind algorithm = AlgorithmKind::kImpala;
  env::TaskConfig env;
  model::NetworkConfig network;
  // Defaults, where the algorithm has none.
  model::ValueHeads heads = model::ValueHeads::kDuelling;  // of Ape-X
  actor::NstepConfig transitions;
  actor::ExpertConfig expert;
  std::map<std::string, std::string> graphs;  // name -> hash of its graph's features, hexadecimal
  std::map<std::string, std::string> inputs;  // setting -> hash of what its file says, hexadecimal
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, Agreement>
void visit_fields(Config& c, Visitor&& v) {
  v("algorithm", c.algorithm);
  v("env", c.env);
  v("network", c.network);
  v("heads", c.heads);
  v("transitions", c.transitions);
  v("expert", c.expert);
  v("graphs", c.graphs);
  v("inputs", c.inputs);
}
// Agreement::graphs of a task.
[[nodiscard]] std::map<std::string, std::string> graph_hashes(const env::EnvironmentSpec& spec);
[[nodiscard]] Agreement agreement_of(const TrainConfig& config, const env::Task& task);

}  // namespace pacml::apps

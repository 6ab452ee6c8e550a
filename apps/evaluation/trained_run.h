#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "apps/run/train_config.h"
#include "common/experience/observation_spec.h"
#include "env/environment.h"
#include "env/task_config.h"
#include "model/network_config.h"
#include "model/parameters.h"
#include "model/value_heads.h"

namespace pacml::apps {

// A trained policy as a run folder holds it.
struct TrainedRun {
  TrainConfig config;  // of the run
  model::NetworkShape shape;
  model::Parameters
      parameters;              // of its best policy; of its last checkpoint when none was evaluated
  std::filesystem::path file;  // where they were read
  // The same for searches: with values in the unit of rewards, 0 where none were learned, and what
  // they are values of; nullopt: the checkpoint does not say.
  std::optional<model::Parameters> valued;
  model::ValueHeads heads = model::ValueHeads::kValue;
  bool has_moments = false;  // whether the values of `parameters` are in their unit
  double discount = 1;       // of the rewards that it was trained for
  double reward_rate = 0;    // per unit of time, taken off those rewards; 0: rewards as they are
  std::string warning;  // sentences, each a line, that whoever uses it should read; mostly none
};

// What the heads of a run's network say.
[[nodiscard]] model::ValueHeads heads_of(const TrainConfig& config);

// Whether an algorithm's networks say what states are worth.
[[nodiscard]] bool learns_values(const TrainConfig& config);

// What later rewards are worth to an algorithm's networks.
[[nodiscard]] double discount_of(const TrainConfig& config);

// What an algorithm's networks see rewards multiplied by.
[[nodiscard]] double reward_scale_of(const TrainConfig& config);

// UserError: a policy of `own` was shown a graph node by node (SlotSpec::only_graph), and decisions
// that show `here` have another one there. Its weights may fit all the same. `policy`: where it is,
// for the sentence.
void check_only_graphs(const std::filesystem::path& policy, const env::TaskConfig& own,
                       const ObservationSpec& here);

// A sentence, with the end of its line, where decisions that show `here` have other features than
// those that a policy of `own` was trained on, by name or unit, in as many places: its weights fit,
// and read what they were not trained to. Empty: there is none, or it cannot be told, as of a task
// in Python. `policy`: where it is, for the sentence.
[[nodiscard]] std::string warn_of_other_features(const std::filesystem::path& policy,
                                                 const env::TaskConfig& own,
                                                 const ObservationSpec& here);

// Warns of a best policy that is lost, of job graphs that are not those it was trained on, and of
// decisions that show other features (warn_of_other_features).
// UserError: no run there, no checkpoint yet, a network that does not fit `spec`, or another
// cluster than the only one that it is for (check_only_graphs).
[[nodiscard]] TrainedRun load_trained_run(const std::filesystem::path& run,
                                          const env::EnvironmentSpec& spec);

}  // namespace pacml::apps

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/run/train_config.h"
#include "env/task.h"
#include "model/layout.h"
#include "model/parameters.h"
#include "model/value_heads.h"

namespace pacml::apps {

// An action that the first policy is to prefer.
struct Preferred {
  int action = 0;
  int others = 1;  // actions beside it
};

// The baselines of which the task's "best_constant" is the best: each takes the action that it is
// named after. UserError: the task has no such baseline.
[[nodiscard]] std::vector<std::string> constant_baselines(const env::Task& task);

// The action of one of `constants`.
[[nodiscard]] Preferred preferred_of(const std::string& constant,
                                     const std::vector<std::string>& constants);

// Biases the logits of fresh weights, so that the first policy prefers the action as `config` says.
void prefer(const Preferred& preferred, const WarmStartConfig& config,
            const model::ParameterLayout& layout, model::Parameters& parameters);

// The weights of a run's policy (TrainConfig::warm_start.from), for `config` to go on with. Where
// its logits are preferences and are to be values, they become small: they say which action is
// better, and not by how much. Its values are in the unit of rewards, unless the moments of the
// first targets will be their unit (learner::ValueNormaliser::start): then they stay in that of its
// own, or are 0 where it had none: rewards would be taken for deviations. What whoever uses that
// run should read is said in the log and on stderr. UserError: there is no such run, or it is of
// another network, or knows no unit.
[[nodiscard]] std::vector<float> policy_to_start_with(const TrainConfig& config,
                                                      const env::Task& task,
                                                      const model::ParameterLayout& layout);

}  // namespace pacml::apps

#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/experience/observation_spec.h"
#include "env/graph_features.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::learner {

// A note that says what values, and logits that are action values, are in units of: kRewards where
// they are what rewards add up to. Without it they are the network's own.
inline constexpr const char* kValueUnit = "value_unit";
inline constexpr const char* kRewards = "rewards";
// A note that says what a unit of time pays on average, where values are of rewards less that.
inline constexpr const char* kRewardRate = "reward_rate";

// A trained policy as it leaves the program. Value type.
struct PolicyExport {
  model::NetworkShape shape;
  model::Parameters parameters;
  // For whoever uses the file: "config" (the run's YAML), "outputs" (what logits and values say),
  // run id, score, ... Texts, in UTF-8.
  std::map<std::string, std::string> notes;
  // The task's graphs, on which reference outputs are given besides synthetic ones.
  std::vector<env::GraphFeaturesPtr> graphs;
  // The task's globals, by name.
  std::vector<FeatureSpec> globals = {};
};

// What every format carries, as texts: the notes; "inputs", the JSON of policy_inputs.h's
// describe(); "head", "policy_version" and "format"; and the sizes of head: dense, which head:
// candidates' weights tell by their names and shapes (model/layout.h). Pure.
[[nodiscard]] std::map<std::string, std::string> export_metadata(const PolicyExport& policy);

}  // namespace pacml::learner

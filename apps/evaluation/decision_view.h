#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/evaluation/watched_policy.h"
#include "env/environment.h"
#include "env/picture.h"

namespace pacml::apps {

// One action of a decision, and what would come of it at once.
struct CandidateOutcome {
  int action = 0;
  std::string text;                            // "degree 8"
  std::optional<double> probability;           // that the policy gives it
  std::optional<double> value;                 // that the policy expects of it
  float reward = 0;                            // of the step
  std::optional<env::PictureOutcome> outcome;  // where the environment can say
};

// A decision as people look at it: the state, the actions, and what a policy thinks of them.
struct DecisionView {
  env::Picture picture;
  std::vector<CandidateOutcome> candidates;  // in the order of actions
  std::size_t left_out = 0;                  // further valid candidates, the least likely ones
  int chosen = 0;                            // by the policy
  std::optional<double> value;               // of the state, by the policy
};

// The current decision of `environment`. Each valid action, at most `most` of them, is tried on a
// clone. Pre: the episode goes on.
[[nodiscard]] DecisionView look_at(const env::Environment& environment, const Opinion& opinion,
                                   std::size_t most = 24);

// What the environment shows of itself: its picture, or, where it has none, the numbers that its
// observation has of the whole.
[[nodiscard]] env::Picture picture_of(const env::Environment& environment);

// For programs: {"now", "facts", "items", "grids", "candidates", "left_out", "chosen", "value"};
// what is not known is absent. A fact is [name, text], or [name, text, number]. Pure.
[[nodiscard]] nlohmann::ordered_json to_json(const DecisionView& view);
[[nodiscard]] nlohmann::ordered_json to_json(const env::PictureOutcome& outcome);

// For people: facts, places drawn with a letter for each item, and a table of the candidates, in
// the order of actions. Ends with a newline. Pure.
[[nodiscard]] std::string to_text(const DecisionView& view);

}  // namespace pacml::apps

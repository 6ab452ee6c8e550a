#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/evaluation/eval_result.h"
#include "apps/evaluation/evaluation.h"
#include "common/ids.h"
#include "env/task.h"

// Where two policies decide differently, and what that costs.

namespace pacml::apps {

// Decisions on which they differ in one way: "degree 8" against "degree 4".
struct DisagreementGroup {
  std::string first;  // what the first policy does, for people
  std::string second;
  std::int64_t decisions = 0;
  // Of what followed each choice, jobs that were lost, and the sum of rewards: means.
  double lost_after_first = 0;
  double lost_after_second = 0;
  double reward_after_first = 0;
  double reward_after_second = 0;
  // What the second choice costs beyond the first, a decision: mean, and an interval that takes
  // decisions of one episode for dependent (its variance is that of a ratio of sums over episodes,
  // W. Cochran, Sampling Techniques, 6.3, over those that have such decisions); NaN from one
  // episode.
  MeanInterval more_lost;
  MeanInterval less_reward;
  // The decision of the group whose second choice costs most, for `pacml explain`.
  std::int64_t episode = 0;
  std::int64_t decision = 0;
};

struct Disagreement {
  std::string first;
  std::string second;
  std::int64_t episodes = 0;
  std::int64_t decisions = 0;             // that the first policy took in them
  std::int64_t horizon = 0;               // decisions that each choice is followed for
  bool losses_are_known = false;          // whether the task tells losses (env::Pictured)
  DisagreementGroup all;                  // of every kind together; its texts are empty
  std::vector<DisagreementGroup> groups;  // the most decisions first
};

// Plays the episodes of `seeds` as `first` does, and asks `second` at every decision what it would
// do. Where they differ, both choices are followed on copies, on the same arrivals, for as long as
// `horizon` decisions take behind the first one, itself included, with `first` deciding behind
// either: what the choice alone comes to. `first_number`: of the first seed, to name episodes by.
// The result does not depend on the number of threads. UserError as the environments and policies
// throw it.
[[nodiscard]] Disagreement find_disagreement(const env::Task& task, const NamedPolicy& first,
                                             const NamedPolicy& second,
                                             const std::vector<Seed>& seeds,
                                             std::int64_t first_number, std::int64_t horizon,
                                             int threads, const EvaluationWatch& watch = {});

// For people: a sentence, a table of the `most` largest groups, a sentence. Ends with a newline.
// Pure.
[[nodiscard]] std::string to_text(const Disagreement& found, std::size_t most = 20);
// For programs: {"first", "second", "episodes", "decisions", "horizon", "differing", "all": group,
// "groups": [group, ...]}, a group as above, all of them; losses only where they are known. Pure.
[[nodiscard]] nlohmann::ordered_json to_json(const Disagreement& found);

}  // namespace pacml::apps

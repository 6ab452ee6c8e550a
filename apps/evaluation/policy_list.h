#pragma once

#include <string>
#include <vector>

#include "apps/evaluation/evaluation.h"
#include "env/task.h"

namespace pacml::apps {

// "a,b" and "c" as {"a", "b", "c"}, but for a comma in the name of a folder that is there;
// "baselines", or nothing at all, stands for every baseline that the task compares. UserError: an
// empty name.
[[nodiscard]] std::vector<std::string> split_names(const std::vector<std::string>& lists,
                                                   const env::Task& task);

// The baseline that a name stands for: of one that is the best of several, such as "best_constant",
// the one that does best on tuning episodes. Any other name is given back.
[[nodiscard]] std::string baseline_meant(const std::string& name, const env::TaskPtr& task,
                                         Seed run, int threads, const EvaluationWatch& watch = {});

// Whose policy that is, without what may stand behind it (below): "runs/a" of
// "runs/a+search:K=32".
[[nodiscard]] std::string without_suffixes(const std::string& policy);

// Policies by name: one of the task's baselines (one that is the best of several, such as
// "best_constant", is chosen on tuning episodes, once for all of `names`, and shown with what it
// is: "best_constant:8", also where it is searched from: "best_constant:8+search"), or the folder
// of a run (its best policy), or an exported .safetensors file, which take their most probable
// action, or with "+sample" behind them draw one by their probabilities; with "+search" or
// "+search:K=64,H=12,..." behind it a search over what that policy would do
// (planning/search_config.h), and "rollout:RULE" for that over a baseline with nothing set, shown
// under that name; with "+refine" or "+refine:N" behind any of these a search from what its episode
// came to, with at most N simulations (env::RefinableTask). UserError: no such policy or run, or a
// run of another network than the task needs. `watch` is of the tuning episodes; where it stops
// them, the policies mean nothing.
[[nodiscard]] std::vector<NamedPolicy> name_policies(const std::vector<std::string>& names,
                                                     const env::TaskPtr& task, Seed run,
                                                     int threads,
                                                     const EvaluationWatch& watch = {});

// The policies that such lists name (split_names, name_policies). A folder that holds runs, and is
// none, stands for all of them, in the order of their names, as trainings of one method, which is
// called like the folder; what stands behind it, such as "+search", stands behind each. UserError:
// as above.
[[nodiscard]] std::vector<NamedPolicy> list_policies(const std::vector<std::string>& lists,
                                                     const env::TaskPtr& task, Seed run,
                                                     int threads,
                                                     const EvaluationWatch& watch = {});

}  // namespace pacml::apps

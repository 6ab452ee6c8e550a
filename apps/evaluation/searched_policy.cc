#include "apps/evaluation/searched_policy.h"

#include "common/result.h"

namespace pacml::apps {

std::unique_ptr<planning::SearchAgent> search_agent(const TrainedRun& run, const env::Task& task,
                                                    std::string_view settings) {
  if (!run.valued) {
    throw UserError(run.file.string() +
                    " does not say what its values are in units of: no search can go by them");
  }
  planning::SearchConfig defaults;
  defaults.horizon = 12;
  defaults.discount = run.discount;
  defaults.reward_rate = run.reward_rate;
  defaults.measures_rate =
      run.config.algorithm == AlgorithmKind::kExpertIteration && run.config.expert.centre_rewards;
  return std::make_unique<planning::SearchAgent>(
      planning::parse_search(settings, defaults),
      planning::make_network_policy(run.shape, *run.valued, run.heads, task.spec().graphs));
}

}  // namespace pacml::apps

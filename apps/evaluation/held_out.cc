#include "apps/evaluation/held_out.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "apps/evaluation/evaluation.h"
#include "apps/evaluation/trained_agent.h"
#include "model/policy.h"

namespace pacml::apps {

HeldOutEvaluator::HeldOutEvaluator(env::TaskPtr task, const model::NetworkShape& shape, Seed run,
                                   std::int64_t episodes)
    : task_(std::move(task)),
      shape_(shape),
      environment_(task_->make_factory()()),
      seeds_(tuning_seeds(run, episodes)) {}

std::optional<std::vector<double>> HeldOutEvaluator::means(env::Agent& agent,
                                                           const GoesOn& goes_on) {
  PolicyResult result;
  for (const Seed seed : seeds_) {
    const auto episode = run_episode(*environment_, agent, seed, goes_on);
    if (!episode) return std::nullopt;
    result.seeds.push_back(*episode);
  }
  std::vector<double> means;
  for (std::size_t m = 0; m < spec().metrics.size(); ++m) {
    means.push_back(mean_interval(result, m).mean);
  }
  return means;
}

std::optional<std::vector<double>> HeldOutEvaluator::score(const model::Parameters& parameters,
                                                           const GoesOn& goes_on) try {
  TrainedAgent agent(shape_, parameters, spec().graphs);
  return means(agent, goes_on);
} catch (const model::UnsoundOutput&) {
  return std::nullopt;
}

std::optional<std::vector<HeldOutEvaluator::ScoredBaseline>> HeldOutEvaluator::score_baselines(
    const GoesOn& goes_on) {
  const auto agents = env::compared_agents(*task_);
  const std::set<std::string> names(agents.begin(), agents.end());
  std::vector<ScoredBaseline> scored;
  for (const std::string& name : names) {
    const auto found = means(*task_->make_agent(name), goes_on);
    if (!found) return std::nullopt;
    scored.push_back({name, found->front()});
  }
  // One that has no score, such as a mean over nothing, comes last.
  std::ranges::stable_sort(scored, [this](const ScoredBaseline& a, const ScoredBaseline& b) {
    if (std::isnan(a.score) || std::isnan(b.score)) return !std::isnan(a.score);
    return spec().objective().is_better(a.score, b.score);
  });
  return scored;
}

}  // namespace pacml::apps

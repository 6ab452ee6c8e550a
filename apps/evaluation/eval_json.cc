#include "apps/evaluation/eval_json.h"

#include <nlohmann/json.hpp>

#include "common/json_text.h"

namespace pacml::apps {
namespace {

using Json = nlohmann::ordered_json;  // NaN is dumped as null
using Metrics = std::vector<env::MetricSpec>;

Json to_value(const SeedResult& seed, const Metrics& metrics) {
  Json value = {{"seed", seed.seed},
                {"decisions", seed.episode.decisions},
                {"return", seed.episode.episode_return}};
  if (!seed.problem.empty()) value["problem"] = seed.problem;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    value[metrics[m].name] = seed.episode.metrics[m];
  }
  return value;
}

Json to_value(const PairedDifference& found, const std::string& from) {
  return {{"from", from},
          {"mean", found.difference.mean},
          {"ci95", found.difference.ci95},
          {"episodes", found.episodes}};
}

Json to_value(const PolicyResult& policy, const Metrics& metrics, const PolicyResult* reference) {
  Json seeds = Json::array();
  for (const SeedResult& seed : policy.seeds) seeds.push_back(to_value(seed, metrics));
  Json value = {{"name", policy.name}, {"learned", policy.learned}, {"seeds", std::move(seeds)}};
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const MeanInterval of_metric = mean_interval(policy, m);
    value[metrics[m].name] = {{"mean", of_metric.mean}, {"ci95", of_metric.ci95}};
  }
  if (!policy.method.empty()) value["method"] = policy.method;
  if (reference != nullptr && reference != &policy) {
    value["difference"] = to_value(paired_difference(policy, *reference), reference->name);
  }
  return value;
}

Json to_value(const Method& method, const PolicyResult* reference) {
  Json trainings = Json::array();
  for (const PolicyResult* training : method.trainings) trainings.push_back(training->name);
  const Spread spread = spread_of(method);
  Json value = {{"name", method.name},      {"trainings", std::move(trainings)},
                {"mean", spread.mean.mean}, {"ci95", spread.mean.ci95},
                {"median", spread.median},  {"least", spread.least},
                {"most", spread.most}};
  if (reference != nullptr) {
    value["difference"] = to_value(paired_difference(method, *reference), reference->name);
  }
  return value;
}

Json to_value(const EvalOrigin& origin) {
  return {{"pacml", origin.program}, {"config", origin.config},
          {"set", origin.overrides}, {"profiles", origin.profiles},
          {"seed", origin.seed},     {"first_episode", origin.first_episode}};
}

}  // namespace

std::string to_json(const EvalResult& result, const std::optional<EvalOrigin>& origin) {
  const PolicyResult* const reference = best_untrained(result);
  Json policies = Json::array();
  for (const PolicyResult& policy : result.policies) {
    policies.push_back(to_value(policy, result.metrics, reference));
  }
  Json value = {{"objective", result.metrics.front().name}, {"policies", std::move(policies)}};
  for (const Method& method : methods_of(result)) {
    value["methods"].push_back(to_value(method, reference));
  }
  if (origin) value["origin"] = to_value(*origin);
  return json_text(value, 2) + "\n";
}

}  // namespace pacml::apps

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

Json to_value(const PolicyResult& policy, const Metrics& metrics) {
  Json seeds = Json::array();
  for (const SeedResult& seed : policy.seeds) seeds.push_back(to_value(seed, metrics));
  Json value = {{"name", policy.name}, {"learned", policy.learned}, {"seeds", std::move(seeds)}};
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const MeanInterval of_metric = mean_interval(policy, m);
    value[metrics[m].name] = {{"mean", of_metric.mean}, {"ci95", of_metric.ci95}};
  }
  return value;
}

}  // namespace

std::string to_json(const EvalResult& result) {
  Json policies = Json::array();
  for (const PolicyResult& policy : result.policies) {
    policies.push_back(to_value(policy, result.metrics));
  }
  return json_text(
             Json{{"objective", result.metrics.front().name}, {"policies", std::move(policies)}},
             2) +
         "\n";
}

}  // namespace pacml::apps

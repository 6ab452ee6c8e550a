#include "apps/evaluation/eval_json.h"

#include <nlohmann/json.hpp>

namespace pacml::apps {
namespace {

using Json = nlohmann::ordered_json;  // NaN is dumped as null

Json to_value(const SeedResult& seed) {
  return {{"seed", seed.seed},
          {"arrived", seed.arrived},
          {"completed", seed.completed},
          {"blocked", seed.blocked},
          {"blocked_by_cause", Json(seed.blocked_by_cause)},
          {"blocking_rate", seed.blocking_rate},
          {"mean_jct", seed.mean_jct},
          {"mean_jct_speedup", seed.mean_jct_speedup},
          {"mean_demand_total_throughput", seed.mean_demand_total_throughput}};
}

Json to_value(const PolicyResult& policy) {
  Json seeds = Json::array();
  for (const SeedResult& seed : policy.seeds) seeds.push_back(to_value(seed));
  const MeanInterval blocking = mean_interval(policy, &SeedResult::blocking_rate);
  return {{"name", policy.name},
          {"seeds", std::move(seeds)},
          {"blocking_rate", {{"mean", blocking.mean}, {"ci95", blocking.ci95}}}};
}

}  // namespace

std::string to_json(const EvalResult& result) {
  Json policies = Json::array();
  for (const PolicyResult& policy : result.policies) policies.push_back(to_value(policy));
  return Json{{"policies", std::move(policies)}}.dump(2) + "\n";
}

}  // namespace pacml::apps

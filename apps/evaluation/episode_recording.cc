#include "apps/evaluation/episode_recording.h"

#include <nlohmann/json.hpp>

#include "apps/evaluation/decision_view.h"

namespace pacml::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostDecisions = 2000;  // some megabytes
constexpr std::size_t kMostCandidates = 16;    // of each

}  // namespace

Json record_episode(const env::Task& task, WatchedPolicy& policy, Seed seed,
                    const std::stop_token& stop) {
  const auto environment = task.make_factory()();
  const auto* pictured = dynamic_cast<const env::Pictured*>(environment.get());
  environment->reset(seed);
  policy.reset(seed);
  Json decisions = Json::array();
  std::int64_t left_out = 0;
  for (bool goes_on = true; goes_on;) {
    if (stop.stop_requested()) return nullptr;
    const Opinion opinion = policy.ask(*environment);
    const bool shown = static_cast<std::int64_t>(decisions.size()) < kMostDecisions;
    if (shown) decisions.push_back(to_json(look_at(*environment, opinion, kMostCandidates)));
    const env::StepResult result = environment->step(opinion.action);
    goes_on = !result.final();
    if (!shown) {
      ++left_out;
      continue;
    }
    decisions.back()["reward"] = result.reward;
    if (pictured != nullptr) {
      if (const auto last = pictured->picture().last) decisions.back()["outcome"] = to_json(*last);
    }
  }
  const EpisodeRecord summary = environment->summary();
  Json metrics = Json::object();
  const auto& names = task.spec().metrics;
  for (std::size_t m = 0; m < names.size(); ++m) metrics[names[m].name] = summary.metrics[m];
  return {{"policy", policy.name()},           {"task", task.spec().task},
          {"decisions", std::move(decisions)}, {"left_out", left_out},
          {"return", summary.episode_return},  {"metrics", std::move(metrics)}};
}

}  // namespace pacml::apps

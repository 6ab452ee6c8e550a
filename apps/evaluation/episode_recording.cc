#include "apps/evaluation/episode_recording.h"

#include <nlohmann/json.hpp>

#include "apps/evaluation/decision_view.h"
#include "apps/evaluation/future.h"
#include "common/json_text.h"

namespace pacml::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostDecisions = 2000;
constexpr std::size_t kMostBytes = std::size_t{1} << 24;
constexpr std::size_t kMostCandidates = 16;  // of each decision

}  // namespace

std::optional<std::string> record_episode(const env::Task& task, WatchedPolicy& policy, Seed seed,
                                          const std::stop_token& stop) {
  const auto environment = task.make_factory()();
  const auto* pictured = dynamic_cast<const env::Pictured*>(environment.get());
  environment->reset(seed);
  policy.reset(seed);
  // As text at once: as a document, pictures of large clusters would take ten times as much.
  std::string decisions;
  std::int64_t shown = 0;
  std::int64_t left_out = 0;
  for (bool goes_on = true; goes_on;) {
    if (stop.stop_requested()) return std::nullopt;
    const Opinion opinion = policy.ask(*environment);
    const bool shows = shown < kMostDecisions && decisions.size() < kMostBytes;
    Json decision;
    if (shows) decision = to_json(look_at(*environment, opinion, kMostCandidates));
    const env::StepResult result = environment->step(opinion.action);
    goes_on = !result.final();
    if (!shows) {
      ++left_out;
      continue;
    }
    decision["reward"] = static_cast<float>(reward_of_all(result, *environment));
    if (pictured != nullptr) {
      if (const auto last = pictured->picture().last) decision["outcome"] = to_json(*last);
    }
    decisions += (shown++ == 0 ? "" : ",") + json_text(decision);
  }
  const EpisodeRecord summary = environment->summary();
  Json metrics = Json::object();
  const auto& names = task.spec().metrics;
  for (std::size_t m = 0; m < names.size(); ++m) metrics[names[m].name] = summary.metrics[m];
  return "{\"policy\":" + json_text(Json(policy.name())) +
         ",\"task\":" + json_text(Json(task.spec().task)) + ",\"decisions\":[" + decisions +
         "],\"left_out\":" + std::to_string(left_out) +
         ",\"return\":" + json_text(Json(summary.episode_return)) +
         ",\"metrics\":" + json_text(metrics) + "}";
}

}  // namespace pacml::apps

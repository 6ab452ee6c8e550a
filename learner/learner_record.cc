#include "learner/learner_record.h"

#include <cmath>

namespace pacml::learner {

void EpisodeSums::add(const EpisodeRecord& episode) {
  ++episodes;
  return_sum += episode.episode_return;
  for (std::size_t m = 0; m < kMostMetrics; ++m) {
    if (std::isnan(episode.metrics[m])) continue;
    metric_sum[m] += episode.metrics[m];
    ++metric_count[m];
  }
}

void LearnerRecord::add(const EpisodeRecord& episode) {
  ++counters.episodes;
  statistics.episodes.add(episode);
}

void LearnerRecord::add(const UpdateReport& report) {
  counters.stale += report.stale;
  counters.unfinished += report.unfinished;
  if (report.outcome == Outcome::kDiverged) ++counters.skipped;
  if (report.outcome != Outcome::kApplied) return;
  counters.samples += report.decisions;
  ++counters.updates;
  ++statistics.updates;
  statistics.loss_sum += report.loss;
  for (const auto& [name, value] : report.scalars) {
    statistics.scalar_sums[std::string(name)] += value;
  }
}

void LearnerRecord::add_lag(PolicyVersion now, PolicyVersion used, std::uint64_t times) {
  statistics.policy_lag.add(now > used ? now.get() - used.get() : 0, times);
}

void LearnerRecord::add_actions(const std::vector<std::int64_t>& times) {
  auto& actions = statistics.actions;
  if (actions.size() < times.size()) actions.resize(times.size());
  for (std::size_t a = 0; a < times.size(); ++a) actions[a] += times[a];
}

void LearnerRecord::add_action(int action) {
  const auto number = static_cast<std::size_t>(action);
  if (statistics.actions.size() <= number) statistics.actions.resize(number + 1);
  ++statistics.actions[number];
}

}  // namespace pacml::learner

#include "learner/learner_record.h"

namespace pacml::learner {

void LearnerRecord::add(const EpisodeRecord& episode) {
  ++counters.episodes;
  ++statistics.episodes;
  statistics.return_sum += episode.episode_return;
  if (episode.arrived > 0) {
    statistics.blocking_rate_sum +=
        static_cast<double>(episode.blocked) / static_cast<double>(episode.arrived);
  }
}

void LearnerRecord::add(const UpdateReport& report) {
  counters.samples += report.decisions;
  counters.stale += report.stale;
  if (report.diverged) ++counters.skipped;
  if (!report.applied) return;
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

}  // namespace pacml::learner

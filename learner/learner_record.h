#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "common/experience/episode.h"
#include "common/histogram.h"
#include "common/ids.h"
#include "learner/algorithm.h"

namespace pacml::learner {

// What a learner has done since its run began; in checkpoints. Value type.
struct LearnerCounters {
  std::int64_t updates = 0;
  std::int64_t decisions = 0;  // of actors: received, or inserted into a replay
  std::int64_t samples = 0;    // learned from; out of a replay, a decision is several samples
  std::int64_t stale = 0;      // left out: their weights were too old
  std::int64_t misfits = 0;    // messages, or batches of a replay, for another network
  std::int64_t episodes = 0;
  std::int64_t skipped = 0;     // updates that would not have been finite: the weights stayed
  std::int64_t unfinished = 0;  // decisions left out: of episodes whose end is not known
  bool operator==(const LearnerCounters&) const = default;
};
// Each with its name in checkpoints, metrics and a learner's status.
template <class Counters, class Visitor>
requires std::same_as<std::remove_const_t<Counters>, LearnerCounters>
void visit_fields(Counters& c, Visitor&& v) {
  v("updates", c.updates);
  v("decisions", c.decisions);
  v("samples", c.samples);
  v("stale", c.stale);
  v("misfits", c.misfits);
  v("episodes", c.episodes);
  v("skipped", c.skipped);
  v("unfinished", c.unfinished);
}

// Sums over episodes. Value type.
struct EpisodeSums {
  std::int64_t episodes = 0;
  double return_sum = 0;
  // Of each of the task's metrics, over the episodes in which it was defined, and their number.
  std::array<double, kMostMetrics> metric_sum{};
  std::array<std::int64_t, kMostMetrics> metric_count{};

  void add(const EpisodeRecord& episode);
};

// What happened since the statistics were last taken, for metrics.
struct LearnerStatistics {
  // Versions between the weights that a decision was taken with and those that learning is at: of
  // every decision received, or of every sample out of a replay.
  Histogram policy_lag;
  // How often each action was taken, [0 .. the highest one taken]: of the same decisions.
  std::vector<std::int64_t> actions;
  double loss_sum = 0;
  std::map<std::string, double> scalar_sums;  // of each update's scalars
  std::int64_t updates = 0;
  EpisodeSums episodes;
};

// What a learner keeps count of. Value type.
struct LearnerRecord {
  LearnerCounters counters;
  LearnerStatistics statistics;

  void add(const EpisodeRecord& episode);
  void add(const UpdateReport& report);
  // Of `times` decisions that weights `used` took, when learning is at `now`. Those that are ahead,
  // since the learner went back to a checkpoint, lag by 0.
  void add_lag(PolicyVersion now, PolicyVersion used, std::uint64_t times);
  void add_action(int action);                               // >= 0
  void add_actions(const std::vector<std::int64_t>& times);  // [action]
};

}  // namespace pacml::learner

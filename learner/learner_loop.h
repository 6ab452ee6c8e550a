#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stop_token>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "learner/algorithm.h"
#include "learner/learner_record.h"
#include "learner/replicas/replica_group.h"
#include "learner/sample_source.h"
#include "learner/updates.h"

namespace pacml::learner {

// Updates, keeps count, publishes: whatever the algorithm and wherever its experience comes from.
// With replicas, before each update all of them tell one another how much they have at hand, what
// they have counted, and whether their weights are the same; an update is made when together they
// have enough. Thread-confined.
class LearnerLoop {
 public:
  // Borrows everything for its life. `updates`: of `algorithm`, which has the same `replicas`.
  // `life`: names this process among all that are, or ever were, replicas of the run.
  LearnerLoop(const Algorithm& algorithm, Updates& updates, ParametersSink& sink,
              ReplicaGroup& replicas = alone(), std::uint64_t life = 0);

  // One update, or kTimeout when the experience for it did not come in time (what came is kept), or
  // kStopped: by `stop`, or the leader has dismissed everybody. With replicas, also kDisconnected:
  // the group has come to its end; and kVersionMismatch: the replicas' weights differ. Either way
  // the group is to be formed anew, and the leader's state to be shared.
  [[nodiscard]] Result<void> step(const std::stop_token& stop, Deadline deadline);

  // The leader's: the next step of everybody ends in kDisconnected, for a group with more in it.
  void ask_to_regroup() { wishes_.regroup = 1; }
  // The leader's last word: the next step of all others ends in kStopped.
  void dismiss_others();
  // The group is another one.
  void regrouped();

  // Hands out the weights. False: in the unit of rewards they are not finite, and stay here.
  bool publish();

  // Updates skipped since the last one that was made (LearnerCounters::skipped).
  [[nodiscard]] std::int64_t skipped_in_a_row() const { return skipped_in_a_row_; }
  // Of each replica of the group, by rank: decisions that reached it in this life, as it said when
  // the group agreed last. Empty: it is the only one.
  [[nodiscard]] const std::vector<double>& decisions_of_replicas() const {
    return decisions_of_replicas_;
  }

  // Of the leader: what all replicas have counted. Of others: decisions, misfits and episodes are
  // those of their own actors.
  [[nodiscard]] const LearnerCounters& counters() const { return record_.counters; }
  // Goes on counting from a checkpoint that the algorithm was restored from.
  void restore(const LearnerCounters& counters) { record_.counters = counters; }
  // Hands over the statistics and starts new ones.
  [[nodiscard]] LearnerStatistics take_statistics() {
    return std::exchange(record_.statistics, {});
  }
  [[nodiscard]] std::size_t queue_depth() const { return updates_->queue_depth(); }

 private:
  struct Wishes {
    double regroup = 0;
    double stop = 0;
  };
  // What a replica has counted in its life.
  struct Tally {
    double decisions = 0;
    double misfits = 0;
    double episodes = 0;
    double return_sum = 0;
    std::array<double, kMostMetrics> metric_sum{};
    std::array<double, kMostMetrics> metric_count{};
  };
  // What replicas tell one another before an update.
  struct Word {
    Wishes wishes;
    double collected = 0;
    double life = 0;               // of this process
    double version = 0;            // of the weights
    std::array<double, 2> hash{};  // of the weights, now and then; its halves are exact in doubles
    Tally tally;                   // now
    Tally told;                    // what this one knows to have been heard of it
  };
  // How many decisions all have at hand.
  [[nodiscard]] Result<std::int64_t> agree();
  [[nodiscard]] Word my_word() const;
  [[nodiscard]] Result<void> check_same(const Word& mine, const std::vector<Word>& words) const;
  // Adds what a replica has counted since it was last heard.
  void count(const Word& word);
  // What this one has said of itself is in the record now.
  void was_heard(const Word& mine);

  const Algorithm* algorithm_;
  Updates* updates_;
  ParametersSink* sink_;
  ReplicaGroup* replicas_;
  LearnerRecord record_;
  // Among replicas: what this one has counted, what of it was heard, and what it heard of each, by
  // its life.
  LearnerRecord own_;
  Tally told_;
  std::map<double, Tally> heard_;
  double life_;
  std::vector<double> decisions_of_replicas_;
  Wishes wishes_;
  std::int64_t missing_ = 0;  // decisions, when the replicas last spoke
  std::int64_t skipped_in_a_row_ = 0;
};

}  // namespace pacml::learner

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/run/evaluation_figures.h"
#include "common/clock.h"

namespace pacml::apps {

// How far a warm start is.
struct WarmStartProgress {
  std::int64_t done = 0;
  std::int64_t of = 0;
  std::string unit;  // what is counted: "episodes"
  bool operator==(const WarmStartProgress&) const = default;

  [[nodiscard]] std::string text() const {
    return std::to_string(done) + " of " + std::to_string(of) + " " + unit;
  }
};

// What a person wants to see of a training run while it goes on. Absent: not known yet, left out.
struct TrainProgress {
  std::string run;  // its folder
  std::chrono::seconds elapsed{0};
  std::optional<std::chrono::seconds> time_limit;  // --minutes
  std::optional<std::int64_t> decision_limit;      // --decisions
  std::int64_t decisions = 0;                      // learned from so far
  double decisions_per_second = 0;                 // lately
  bool evaluating = false;                         // everybody waits until the policy is scored
  int actors = 0;                                  // connected now
  EvaluationFigures evaluation;                    // what the policy has come to
  std::optional<double> lately;                    // of the actors' latest episodes
  std::vector<double> curve;                       // what that has been, oldest first; bounded
  std::optional<double> entropy;                   // of the largest possible
  std::optional<double> lag_p99;                   // versions between acting and learning
  std::int64_t skipped = 0;                        // updates that would not have been finite
  std::string limiter;                             // who waits for whom, a sentence
  std::optional<WarmStartProgress> warm_start;     // under way: there is nothing else to show yet
  // Nothing was heard for so long: the figures that change are not shown.
  std::optional<std::chrono::seconds> silent;
  std::string trouble;  // what is wrong, as far as is known
};

// Where progress is shown. Thread-confined.
class ProgressDisplay {
 public:
  virtual ~ProgressDisplay() = default;
  // Shows `progress` unless it was shown a moment ago.
  virtual void update(const TrainProgress& progress, TimePoint now) = 0;
  // Shows `progress` whatever the time, for the last time.
  virtual void finish(const TrainProgress& progress) = 0;
  // Makes room for other output, which may follow; the next update shows progress below it.
  virtual void interrupt() = 0;
};

}  // namespace pacml::apps

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include "common/clock.h"

namespace pacml::apps {

// What a person wants to see of a training run while it goes on. Absent: not known yet, left out.
struct TrainProgress {
  std::chrono::seconds elapsed{0};
  std::optional<std::chrono::seconds> time_limit;  // --minutes
  std::optional<std::int64_t> decision_limit;      // --decisions
  std::int64_t decisions = 0;                      // learned from so far
  double decisions_per_second = 0;                 // lately
  int actors = 0;                                  // connected now
  std::string objective;                           // what policies are compared by
  bool higher_is_better = false;                   // of that
  std::optional<double> lately;                    // of the actors' latest episodes
  std::optional<double> best;                      // of the best policy by evaluation
  std::string baseline;                            // what does best without training
  std::optional<double> baseline_score;            // ... on the same episodes
  std::optional<double> entropy;                   // nats a decision
  std::optional<double> lag_p99;                   // versions between acting and learning
  std::int64_t skipped = 0;                        // updates that would not have been finite
  // Episodes simulated to find where to begin, of how many: there is nothing else to show yet.
  std::optional<std::pair<std::int64_t, std::int64_t>> warm_start;
  // Nothing was heard for so long: the figures that change are not shown.
  std::optional<std::chrono::seconds> silent;
  std::string trouble;  // what is wrong, as far as is known
};

// "1:23 of 3:00 | 3.21 M decisions, 41.2 k/s | 2 actors | blocking_rate 0.231, best 0.084 (15 %
// better than constant:4) | ..."; after a silence "1:23 of 3:00 | 3.21 M decisions | no news for 20
// s". Trouble comes last. Pure.
[[nodiscard]] std::string format_progress(const TrainProgress& progress);

// Shows progress on a stream: on a terminal by rewriting one line four times a second, elsewhere by
// a new line every ten seconds. Thread-confined.
class ProgressLine {
 public:
  // `terminal_width`: columns, longer text is cut; 0: the stream is no terminal. `out` is borrowed.
  ProgressLine(std::ostream& out, std::size_t terminal_width)
      : out_(out), terminal_width_(terminal_width) {}

  // Shows `progress` unless it was shown a moment ago.
  void update(const TrainProgress& progress, TimePoint now);
  // Shows `progress` whatever the time, and ends the line.
  void finish(const TrainProgress& progress);
  // Ends the line, so that other output can follow; the next update starts a new one.
  void interrupt();

 private:
  void show(const TrainProgress& progress);

  std::ostream& out_;
  std::size_t terminal_width_;
  std::optional<TimePoint> shown_at_;
  bool line_is_open_ = false;
};

// Columns of the terminal that standard output is; 0 where it is none.
[[nodiscard]] std::size_t terminal_width_of_stdout();

}  // namespace pacml::apps

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/run/metrics_tail.h"
#include "apps/run/train_progress.h"
#include "common/clock.h"

namespace pacml::apps {

// What a run's metrics tell of it while another process writes them, and how long they have told
// nothing. Any text is safe to find there. Thread-confined.
class RunNews {
 public:
  // `run`: its folder; what is there already is no news. Silence shows in the progress after
  // `patience`, counted from `now` at first.
  RunNews(std::filesystem::path run, Duration patience, TimePoint now);

  // Brings `progress` up to date; true: there was news.
  bool look(TimePoint now, TrainProgress& progress);
  // Whether a figure told of a decision that was learned from; it is one from then on.
  [[nodiscard]] bool learned_something() const { return learned_; }
  // Whether there were figures, and none of them did.
  [[nodiscard]] bool learned_nothing() const { return first_decisions_ && !learned_; }

 private:
  static constexpr std::size_t kMostPoints = 240;  // of the curve; then every two become one
  static void extend(std::vector<double>& curve, double value);
  void read(std::string_view line, TrainProgress& progress);
  [[nodiscard]] std::string why_silent() const;

  std::filesystem::path run_;
  Duration patience_;
  MetricsTail tail_;
  TimePoint last_news_;
  double failures_ = 0;                          // of writing, that the newest line has counted
  std::optional<std::int64_t> first_decisions_;  // as the first figures had them
  bool learned_ = false;
};

}  // namespace pacml::apps

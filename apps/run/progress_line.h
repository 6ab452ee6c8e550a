#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "apps/run/train_progress.h"
#include "common/clock.h"

namespace pacml::apps {

// "1:23 of 3:00 | 3.21 M decisions, 41.2 k/s | 2 actors | blocking_rate 0.231, best 0.084 (15 %
// better than constant:4) | ..."; after a silence "1:23 of 3:00 | 3.21 M decisions | no news for 20
// s". Trouble comes last. Pure.
[[nodiscard]] std::string format_progress(const TrainProgress& progress);

// Progress where there is no terminal, in logs and pipes: a line every ten seconds.
class ProgressLine final : public ProgressDisplay {
 public:
  // Borrows `out`.
  explicit ProgressLine(std::ostream& out) : out_(out) {}

  void update(const TrainProgress& progress, TimePoint now) override;
  void finish(const TrainProgress& progress) override;
  void interrupt() override {}

 private:
  std::ostream& out_;
  std::optional<TimePoint> shown_at_;
};

}  // namespace pacml::apps

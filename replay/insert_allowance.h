#pragma once

#include <algorithm>

namespace pacml::replay {

// How many more transitions a shard has a use for. Each draw is leave for some to come in; what is
// not used is kept, up to a burst. So what a learner draws from is as old with a thousand actors as
// with ten, and a shard whose machine is busy leaves the learner its time. Thread-confined.
class InsertAllowance {
 public:
  // `per_draw`: >= 0; 0: no bound. `burst`: to begin with, and at most; >= 1.
  InsertAllowance(double per_draw, double burst)
      : per_draw_(per_draw), burst_(burst), left_(burst) {}

  [[nodiscard]] bool bounded() const { return per_draw_ > 0; }
  void drawn(double items) { left_ = std::min(burst_, left_ + per_draw_ * items); }
  void inserted(double items) { left_ -= items; }
  // At the full burst again: for when nobody was there who could draw.
  void forgive() { left_ = burst_; }
  // Below 1: none, until more is drawn.
  [[nodiscard]] double left() const { return left_; }

 private:
  double per_draw_;
  double burst_;
  double left_;
};

}  // namespace pacml::replay

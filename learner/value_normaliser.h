#pragma once

#include <array>

#include "common/config/fields.h"
#include "learner/batch_moments.h"

namespace pacml::learner {

// What the value head predicts: V itself, or V in units of the value targets' running moments.
// Without it, values of a few hundred take thousands of updates to reach.
enum class ValueNormalisation { kNone, kPopArt };

constexpr auto enum_names(ValueNormalisation) {
  return std::to_array<EnumName<ValueNormalisation>>(
      {{"none", ValueNormalisation::kNone}, {"popart", ValueNormalisation::kPopArt}});
}

// PopArt (van Hasselt et al. 2016, arXiv:1602.07714): the value head predicts (V - mean) /
// deviation with running moments of the value targets. When the moments move, the head's weights
// are to be rewritten so that V stays what it was. Thread-confined.
class ValueNormaliser {
 public:
  // `rate`: weight of a new batch in the running moments, from above 0 to 1. Early batches weigh
  // more, as if the moments had no memory of their start.
  explicit ValueNormaliser(double rate) : rate_(rate) {}

  [[nodiscard]] float to_value(float output) const {
    return static_cast<float>(mean_ + deviation_ * output);
  }
  [[nodiscard]] float to_output(float value) const {
    return static_cast<float>((value - mean_) / deviation_);
  }
  [[nodiscard]] double deviation() const { return deviation_; }

  // Takes in the first batch and leaves the head alone: its outputs are near 0, so that values
  // start at the targets' mean. Otherwise they would start at 0, which may be many deviations away.
  // A batch of which nothing counts, or whose sums are not finite, changes nothing.
  void start(const TargetSums& targets);
  [[nodiscard]] bool started() const { return state_.weight > 0; }

  // How a head is to be rewritten: its output x becomes scale * x + shift.
  struct Change {
    double scale = 1;
    double shift = 0;
  };
  // Takes in a batch; the change of outputs under which values stay what they were.
  [[nodiscard]] Change update(const TargetSums& targets);
  // The change that makes outputs the values themselves: for what is published and exported.
  [[nodiscard]] Change to_values() const { return {deviation_, mean_}; }

  struct State {
    double mean = 0;
    double mean_square = 1;
    double weight = 0;  // of everything seen, for the early batches; tends to 1
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] State state() const { return state_; }
  void restore(const State& state);

 private:
  void take_in(const TargetSums& targets);
  void set_moments();

  double rate_;
  State state_;
  double mean_ = 0;
  double deviation_ = 1;
};

}  // namespace pacml::learner

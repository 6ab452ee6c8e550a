#pragma once

#include <span>

namespace pacml::learner {

// PopArt (van Hasselt et al. 2016, arXiv:1602.07714): the value head predicts (V - mean) /
// deviation with running moments of the value targets. When the moments move, the head's weights
// are rewritten so that V stays what it was. Thread-confined.
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
  // Targets count where their weight is above 0. Pre: equal lengths (PACML_CHECK).
  void start(std::span<const float> targets, std::span<const float> weights);
  [[nodiscard]] bool started() const { return state_.weight > 0; }

  // Takes in a batch and rewrites the value head's `weight` [in] and `bias` [1].
  void update(std::span<const float> targets, std::span<const float> weights,
              std::span<float> head_weight, std::span<float> head_bias);

  // Rewrites a copy of the head so that it predicts V itself: what is published and exported.
  void fold(std::span<float> head_weight, std::span<float> head_bias) const;

  struct State {
    double mean = 0;
    double mean_square = 1;
    double weight = 0;  // of everything seen, for the early batches; tends to 1
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] State state() const { return state_; }
  void restore(const State& state);

 private:
  void take_in(std::span<const float> targets, std::span<const float> weights);
  void set_moments();

  double rate_;
  State state_;
  double mean_ = 0;
  double deviation_ = 1;
};

}  // namespace pacml::learner

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"

namespace pacml::learner {

enum class OptimizerKind { kAdam, kRmsProp, kRmsPropCentred };

constexpr auto enum_names(OptimizerKind) {
  return std::to_array<EnumName<OptimizerKind>>(
      {{"adam", OptimizerKind::kAdam},
       {"rmsprop", OptimizerKind::kRmsProp},
       {"rmsprop_centred", OptimizerKind::kRmsPropCentred}});
}

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kAdam;
  double beta1 = 0.9;    // Adam: decay of the mean gradient; from 0 to below 1
  double beta2 = 0.999;  // Adam: decay of the mean square; RMSProp's is `decay`
  double decay = 0.99;   // RMSProp: decay of both means; from 0 to below 1
  // Added to the root of the mean square, or under the root, to the variance (centred); > 0.
  double epsilon = 1e-8;
  bool epsilon_hat = false;     // Adam: ... before the root is corrected, as TensorFlow 1 has it
  double gradient_clip = 40.0;  // greatest norm of the whole gradient; .inf: never clipped
  bool operator==(const OptimizerConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, OptimizerConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("kind", c.kind);
  v("beta1", c.beta1);
  v("beta2", c.beta2);
  v("decay", c.decay);
  v("epsilon", c.epsilon);
  v("epsilon_hat", c.epsilon_hat);
  v("gradient_clip", c.gradient_clip);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const OptimizerConfig& config);

// Everything but the weights that the next step depends on. Value type.
struct OptimizerState {
  std::int64_t steps = 0;
  std::vector<float> mean;         // running mean of gradients; empty for plain RMSProp
  std::vector<float> mean_square;  // [parameters]
  bool operator==(const OptimizerState&) const = default;
};

// Adam (Kingma and Ba 2014, arXiv:1412.6980; epsilon_hat: the form behind its algorithm 1) or
// RMSProp (Hinton; no momentum), which divides by the root of the mean square, or centred (Graves
// 2013, arXiv:1308.0850, eq. 38 ff., and TensorFlow, for which epsilons of the field are meant) by
// the deviation of the gradients. On flat vectors, with the gradient first clipped to a global
// norm: the arithmetic of clip_grad_norm_ and, but for the centred kind, whose epsilon is outside
// the root there, of torch::optim, in one pass. Thread-confined.
class Optimizer {
 public:
  Optimizer(const OptimizerConfig& config, std::size_t parameters);

  struct Step {
    double gradient_norm = 0;  // before clipping
    bool applied = false;      // false: the gradient was not finite, and nothing has changed
  };
  // Moves `parameters` against `gradient`, both [parameters] (PACML_CHECK).
  Step step(std::span<float> parameters, std::span<const float> gradient, double learning_rate);

  [[nodiscard]] const OptimizerState& state() const { return state_; }
  // Whether all of the state is. Squares of gradients that are finite and huge need not be.
  [[nodiscard]] bool is_finite() const;
  // Pre: of the same kind and size (PACML_CHECK; callers check what they read from a file with
  // fits()).
  void restore(OptimizerState state);
  [[nodiscard]] bool fits(const OptimizerState& state) const;

 private:
  OptimizerConfig config_;
  std::size_t parameters_;
  OptimizerState state_;
};

}  // namespace pacml::learner

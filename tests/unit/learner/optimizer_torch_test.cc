#include <torch/torch.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "common/rng.h"
#include "learner/optimizer.h"
#include "tests/support/rounding.h"
// After torch: glog defines a CHECK of its own.
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kSize = 257;
constexpr double kRate = 3e-3;
constexpr double kClip = 1.5;

std::unique_ptr<torch::optim::Optimizer> make_torch(OptimizerKind kind, const at::Tensor& weights) {
  if (kind == OptimizerKind::kAdam) {
    return std::make_unique<torch::optim::Adam>(
        std::vector{weights}, torch::optim::AdamOptions(kRate).betas({0.8, 0.99}).eps(1e-6));
  }
  return std::make_unique<torch::optim::RMSprop>(
      std::vector{weights}, torch::optim::RMSpropOptions(kRate).alpha(0.95).eps(1e-3));
}

OptimizerConfig config_of(OptimizerKind kind) {
  OptimizerConfig config;
  config.kind = kind;
  config.gradient_clip = kClip;
  config.beta1 = 0.8;
  config.beta2 = 0.99;
  config.decay = 0.95;
  config.epsilon = kind == OptimizerKind::kAdam ? 1e-6 : 1e-3;
  return config;
}

// The formulas of learner/optimizer.h, weight by weight: the gradient's norm and the weights after
// each step, one step behind the other.
std::vector<double> optimise(const OptimizerConfig& config, const std::vector<float>& initial,
                             const std::vector<std::vector<float>>& gradients, Rounding& rounded) {
  const bool is_adam = config.kind == OptimizerKind::kAdam;
  const double mean_decay = is_adam ? config.beta1 : config.decay;
  const double square_decay = is_adam ? config.beta2 : config.decay;
  // Constants are rounded once for all steps.
  const double keep_mean = rounded(mean_decay);
  const double add_mean = rounded(1 - mean_decay);
  const double keep_square = rounded(square_decay);
  const double add_square = rounded(1 - square_decay);
  const double epsilon = rounded(config.epsilon);
  std::vector<double> weights(initial.begin(), initial.end());
  std::vector<double> mean(weights.size(), 0.0);
  std::vector<double> square(weights.size(), 0.0);
  std::vector<double> out;
  for (std::size_t step = 0; step < gradients.size(); ++step) {
    double sum = 0;
    for (const float g : gradients[step]) sum = rounded(sum + rounded(double{g} * double{g}));
    const double norm = rounded(std::sqrt(sum));
    const double shrink = rounded(config.gradient_clip / rounded(norm + 1e-6));
    const auto steps = static_cast<double>(step + 1);
    const double rate = rounded(is_adam ? kRate / (1 - std::pow(config.beta1, steps)) : kRate);
    const double correction =
        is_adam ? rounded(1 / std::sqrt(1 - std::pow(config.beta2, steps))) : 1.0;
    out.push_back(norm);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double whole = gradients[step][i];
      const double g = shrink < 1 ? rounded(shrink * whole) : whole;
      mean[i] = rounded(rounded(keep_mean * mean[i]) + rounded(add_mean * g));
      square[i] = rounded(rounded(keep_square * square[i]) + rounded(rounded(add_square * g) * g));
      double divisor = rounded(rounded(rounded(std::sqrt(square[i])) * correction) + epsilon);
      if (config.kind == OptimizerKind::kRmsPropCentred) {
        const double variance = rounded(square[i] - rounded(mean[i] * mean[i]));
        divisor = rounded(std::sqrt(rounded(variance + epsilon)));
      }
      const double change = rounded(rate * (is_adam ? mean[i] : g)) / divisor;
      weights[i] = rounded(weights[i] - rounded(change));
      out.push_back(weights[i]);
    }
  }
  return out;
}

TEST_CASE("the flat optimiser and torch's, where it is the same, do what the formulas say",
          "[unit][learner]") {
  const auto kind =
      GENERATE(OptimizerKind::kAdam, OptimizerKind::kRmsProp, OptimizerKind::kRmsPropCentred);
  const OptimizerConfig config = config_of(kind);
  Rng rng(Seed{1});
  const auto draw = [&](double scale) {
    std::vector<float> out(kSize);
    for (float& x : out) x = static_cast<float>(scale * rng.normal());
    return out;
  };
  const std::vector<float> initial = draw(1);
  std::vector<std::vector<float>> gradients;
  // Norms on both sides of the clip.
  for (int step = 0; step < 200; ++step) gradients.push_back(draw(step % 2 == 0 ? 0.02 : 1.0));

  Optimizer optimizer(config, kSize);
  std::vector<float> weights = initial;
  std::vector<float> ours;
  at::Tensor tensor = torch::tensor(initial).requires_grad_(true);
  const auto torch_optimizer = make_torch(kind, tensor);
  std::vector<float> theirs;
  for (const std::vector<float>& gradient : gradients) {
    const auto report = optimizer.step(weights, gradient, kRate);
    ours.push_back(static_cast<float>(report.gradient_norm));
    ours.insert(ours.end(), weights.begin(), weights.end());
    tensor.mutable_grad() = torch::tensor(gradient);
    theirs.push_back(static_cast<float>(torch::nn::utils::clip_grad_norm_(tensor, kClip)));
    torch_optimizer->step();
    const float* const said = tensor.data_ptr<float>();
    theirs.insert(theirs.end(), said, said + kSize);
  }
  const Expected expected = expected_within_rounding(
      [&](Rounding& rounded) { return optimise(config, initial, gradients, rounded); });
  CHECK(worst_error(ours, expected) <= 1);
  // Torch's centred kind has its epsilon outside the root.
  if (kind != OptimizerKind::kRmsPropCentred) CHECK(worst_error(theirs, expected) <= 1);
}

}  // namespace
}  // namespace pacml::learner

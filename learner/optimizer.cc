#include "learner/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/check.h"
#include "common/finite.h"
#include "common/spell_number.h"

namespace pacml::learner {
namespace {

constexpr double kNormGuard = 1e-6;  // as in torch's clip_grad_norm_
constexpr double kLeastEpsilon = 1e-30;

double norm(std::span<const float> values) {
  // Lanes of their own, so that the compiler may add several at once.
  std::array<double, 8> lanes{};
  std::size_t i = 0;
  for (; i + lanes.size() <= values.size(); i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (; i < values.size(); ++i) sum += static_cast<double>(values[i]) * values[i];
  return std::sqrt(sum);
}

}  // namespace

std::vector<std::string> validate(const OptimizerConfig& config) {
  std::vector<std::string> problems;
  const auto is_decay = [&problems](const char* key, double value) {
    // In the weights' float, in which the means are kept: one that is 1 there would never decay.
    if (value >= 0 && static_cast<float>(value) < 1) return;
    const bool rounds = value >= 0 && value < 1;
    problems.push_back(
        std::string(key) + " must be at least 0 and below 1, not " +
        (rounds ? "so near to 1 that single precision takes it for 1" : spell_number(value)));
  };
  is_decay("beta1", config.beta1);
  is_decay("beta2", config.beta2);
  is_decay("decay", config.decay);
  // Less would be nearly nothing, or 0, in the weights' float.
  if (!(config.epsilon >= kLeastEpsilon && config.epsilon <= 1)) {
    problems.push_back("epsilon must be from 1e-30 to 1, not " + spell_number(config.epsilon));
  }
  if (!(config.gradient_clip > 0)) {
    problems.push_back("gradient_clip must be greater than 0 (.inf: never clipped), not " +
                       spell_number(config.gradient_clip));
  }
  return problems;
}

Optimizer::Optimizer(const OptimizerConfig& config, std::size_t parameters)
    : config_(config), parameters_(parameters) {
  if (config.kind != OptimizerKind::kRmsProp) state_.mean.assign(parameters, 0.0F);
  state_.mean_square.assign(parameters, 0.0F);
}

namespace {

// A running mean of a weight without gradients shrinks until it is denormal, and stays so: such
// numbers mean nothing, and take a hundred times as long to compute with.
float without_denormals(float mean) {
  return std::abs(mean) < std::numeric_limits<float>::min() ? 0.0F : mean;
}

// Moves each weight i by what `move` answers to i and its gradient times `scale`. One loop for
// every kind, each with its own code.
template <class Move>
void descend(std::span<float> parameters, std::span<const float> gradient, float scale, Move move) {
  // Plain pointers, so that the loop is computed many weights at once.
  float* const weights = parameters.data();
  const float* const gradients = gradient.data();
  const std::size_t size = parameters.size();
  for (std::size_t i = 0; i < size; ++i) weights[i] -= move(i, scale * gradients[i]);
}

}  // namespace

Optimizer::Step Optimizer::step(std::span<float> parameters, std::span<const float> gradient,
                                double learning_rate) {
  PACML_CHECK(parameters.size() == parameters_ && gradient.size() == parameters_,
              "weights and gradient have the optimiser's size");
  Step report;
  report.gradient_norm = norm(gradient);
  if (!std::isfinite(report.gradient_norm)) return report;
  report.applied = true;
  ++state_.steps;

  const double shrink = config_.gradient_clip / (report.gradient_norm + kNormGuard);
  const auto scale = static_cast<float>(shrink < 1 ? shrink : 1.0);
  const auto epsilon = static_cast<float>(config_.epsilon);
  float* const mean = state_.mean.data();
  float* const square = state_.mean_square.data();
  if (config_.kind == OptimizerKind::kAdam) {
    const auto steps = static_cast<double>(state_.steps);
    const auto keep1 = static_cast<float>(config_.beta1);
    const auto add1 = static_cast<float>(1 - config_.beta1);
    const auto keep2 = static_cast<float>(config_.beta2);
    const auto add2 = static_cast<float>(1 - config_.beta2);
    const double correction = 1 / std::sqrt(1 - std::pow(config_.beta2, steps));
    const auto rate = static_cast<float>(learning_rate / (1 - std::pow(config_.beta1, steps)) /
                                         (config_.epsilon_hat ? correction : 1));
    const auto root_correction = static_cast<float>(config_.epsilon_hat ? 1 : correction);
    descend(parameters, gradient, scale, [=](std::size_t i, float g) {
      mean[i] = without_denormals(keep1 * mean[i] + add1 * g);
      square[i] = without_denormals(keep2 * square[i] + add2 * g * g);
      return rate * mean[i] / (std::sqrt(square[i]) * root_correction + epsilon);
    });
    return report;
  }
  const auto keep = static_cast<float>(config_.decay);
  const auto add = static_cast<float>(1 - config_.decay);
  const auto rate = static_cast<float>(learning_rate);
  if (config_.kind == OptimizerKind::kRmsProp) {
    descend(parameters, gradient, scale, [=](std::size_t i, float g) {
      square[i] = without_denormals(keep * square[i] + add * g * g);
      return rate * g / (std::sqrt(square[i]) + epsilon);
    });
    return report;
  }
  descend(parameters, gradient, scale, [=](std::size_t i, float g) {
    mean[i] = without_denormals(keep * mean[i] + add * g);
    square[i] = without_denormals(keep * square[i] + add * g * g);
    // Rounding may leave a variance just below 0. Under the root, epsilon bounds what a weight
    // moves by whose gradient does not vary.
    const float variance = std::max(0.0F, square[i] - mean[i] * mean[i]);
    return rate * g / std::sqrt(variance + epsilon);
  });
  return report;
}

bool Optimizer::is_finite() const {
  return all_finite(state_.mean) && all_finite(state_.mean_square);
}

bool Optimizer::fits(const OptimizerState& state) const {
  return state.steps >= 0 && state.mean.size() == state_.mean.size() &&
         state.mean_square.size() == state_.mean_square.size();
}

void Optimizer::restore(OptimizerState state) {
  PACML_CHECK(fits(state), "an optimiser state of the same kind and size");
  state_ = std::move(state);
}

}  // namespace pacml::learner

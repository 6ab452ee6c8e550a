#include <torch/torch.h>

#include <memory>
#include <vector>

#include "common/rng.h"
#include "learner/optimizer.h"
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
      std::vector{weights}, torch::optim::RMSpropOptions(kRate).alpha(0.95).eps(1e-3).centered(
                                kind == OptimizerKind::kRmsPropCentred));
}

TEST_CASE("the flat optimiser equals torch's, clipping included", "[unit][learner]") {
  const auto kind =
      GENERATE(OptimizerKind::kAdam, OptimizerKind::kRmsProp, OptimizerKind::kRmsPropCentred);
  OptimizerConfig config;
  config.kind = kind;
  config.gradient_clip = kClip;
  config.beta1 = 0.8;
  config.beta2 = 0.99;
  config.decay = 0.95;
  config.epsilon = kind == OptimizerKind::kAdam ? 1e-6 : 1e-3;
  Optimizer ours(config, kSize);

  Rng rng(Seed{1});
  const auto draw = [&](double scale) {
    std::vector<float> out(kSize);
    for (float& x : out) x = static_cast<float>(scale * rng.normal());
    return out;
  };
  std::vector<float> weights = draw(1);
  at::Tensor theirs = torch::tensor(weights).requires_grad_(true);
  const auto torch_optimizer = make_torch(kind, theirs);
  for (int step = 0; step < 200; ++step) {
    // Norms on both sides of the clip.
    const std::vector<float> gradient = draw(step % 2 == 0 ? 0.02 : 1.0);
    const auto report = ours.step(weights, gradient, kRate);
    theirs.mutable_grad() = torch::tensor(gradient);
    const double norm = torch::nn::utils::clip_grad_norm_(theirs, kClip);
    torch_optimizer->step();
    REQUIRE(report.gradient_norm == Approx(norm).epsilon(1e-5));
    for (std::size_t i = 0; i < kSize; ++i) {
      INFO("step " << step << ", weight " << i);
      REQUIRE(weights[i] == Approx(theirs.data_ptr<float>()[i]).margin(1e-6).epsilon(1e-6));
    }
  }
}

}  // namespace
}  // namespace pacml::learner

#include "learner/losses/huber.h"

#include <cmath>
#include <limits>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

using Floats = std::vector<float>;

TEST_CASE("an error costs its square within delta, and its size beyond", "[unit][learner]") {
  const Floats predictions = {1, 1, 1, 1};
  const Floats targets = {1.5F, 1, 4, -9};  // errors -0.5, 0, -3, 10
  const Floats weights = {1, 1, 1, 0.5F};
  Floats gradients(4, 100.0F);  // what is there is added to
  const double loss = huber_loss(predictions, targets, 2, weights, gradients);
  CHECK(loss == Approx(0.125 + 0 + 2 * (3 - 1) + 0.5 * 2 * (10 - 1)));
  CHECK(gradients == Floats{99.5F, 100, 98, 101});
}

TEST_CASE("the gradient of the Huber loss is that of finite differences", "[unit][learner]") {
  constexpr float kStep = 1e-3F;
  Rng rng(Seed{1});
  const auto draw = [&](std::size_t count) {
    Floats out(count);
    for (float& x : out) x = static_cast<float>(6 * rng.uniform() - 3);
    return out;
  };
  Floats predictions = draw(40);
  const Floats targets = draw(40);
  const Floats weights = draw(40);
  Floats gradients(40);
  static_cast<void>(huber_loss(predictions, targets, 1.5, weights, gradients));
  Floats ignored(40);
  for (std::size_t n = 0; n < predictions.size(); ++n) {
    const float before = predictions[n];
    predictions[n] = before + kStep;
    const double above = huber_loss(predictions, targets, 1.5, weights, ignored);
    predictions[n] = before - kStep;
    const double below = huber_loss(predictions, targets, 1.5, weights, ignored);
    predictions[n] = before;
    CHECK(gradients[n] == Approx((above - below) / (2 * kStep)).margin(5e-3));
  }
}

TEST_CASE("an error that is not finite shows in the Huber loss", "[unit][learner]") {
  const float bad =
      GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity());
  Floats gradients(1);
  CHECK_FALSE(std::isfinite(huber_loss(Floats{bad}, Floats{0}, 1, Floats{1}, gradients)));
  CHECK_FALSE(std::isfinite(huber_loss(Floats{0}, Floats{bad}, 1, Floats{1}, gradients)));
}

}  // namespace
}  // namespace pacml::learner

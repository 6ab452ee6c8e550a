#include "learner/optimizer.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

using Floats = std::vector<float>;

TEST_CASE("Adam's first step is the learning rate against the sign of the gradient",
          "[unit][learner]") {
  Optimizer optimizer({}, 3);
  Floats weights = {1, 1, 1};
  const auto step = optimizer.step(weights, Floats{0.5F, -2, 0}, 0.1);
  REQUIRE(step.applied);
  REQUIRE(step.gradient_norm == Approx(std::sqrt(4.25)));
  REQUIRE(weights[0] == Approx(0.9));
  REQUIRE(weights[1] == Approx(1.1));
  REQUIRE(weights[2] == 1);
}

TEST_CASE("TensorFlow's Adam adds epsilon before it corrects the root", "[unit][learner]") {
  for (const bool hat : {false, true}) {
    OptimizerConfig config;
    config.epsilon = 1;
    config.epsilon_hat = hat;
    Optimizer optimizer(config, 1);
    Floats weights = {0};
    static_cast<void>(optimizer.step(weights, Floats{2}, 0.1));
    // mean 0.2, root sqrt(0.004); corrected 2 and 2
    const double root = std::sqrt(0.004);
    CHECK(weights[0] == Approx(hat ? -0.1 * 2 * std::sqrt(0.001) / (root + 1) : -0.1 * 2 / 3.0));
  }
}

TEST_CASE("a gradient is clipped to the greatest norm, not component by component",
          "[unit][learner]") {
  OptimizerConfig config;
  config.kind = OptimizerKind::kRmsProp;
  config.decay = 0;
  config.epsilon = 1;
  config.gradient_clip = 5;
  Optimizer optimizer(config, 2);
  Floats weights = {0, 0};
  const auto step = optimizer.step(weights, Floats{30, 40}, 1);  // clipped to (3, 4)
  REQUIRE(step.gradient_norm == Approx(50));
  REQUIRE(weights[0] == Approx(-3.0 / (3 + 1)));
  REQUIRE(weights[1] == Approx(-4.0 / (4 + 1)));
}

TEST_CASE("centred RMSProp divides by the deviation of the gradients", "[unit][learner]") {
  OptimizerConfig config;
  config.kind = OptimizerKind::kRmsPropCentred;
  config.decay = 0.5;
  config.epsilon = 1;
  Optimizer optimizer(config, 1);
  Floats weights = {0};
  static_cast<void>(optimizer.step(weights, Floats{4}, 1));
  // mean 2, mean square 8: variance 4
  CHECK(weights[0] == Approx(-4.0 / std::sqrt(4.0 + 1)));
  const float before = weights[0];
  static_cast<void>(optimizer.step(weights, Floats{2}, 1));
  // mean 2, mean square 6: variance 2
  CHECK(weights[0] - before == Approx(-2 / std::sqrt(2.0 + 1)));
}

TEST_CASE("by centred RMSProp a weight whose gradient does not vary moves by less than by its rate",
          "[unit][learner]") {
  OptimizerConfig config;  // as Ape-X is published
  config.kind = OptimizerKind::kRmsPropCentred;
  config.decay = 0.95;
  config.epsilon = 1.5e-7;
  constexpr double kRate = 6.25e-5;
  Optimizer optimizer(config, 1);
  Floats weights = {0};
  for (int step = 0; step < 500; ++step) {
    const float before = weights[0];
    static_cast<void>(optimizer.step(weights, Floats{1e-3F}, kRate));
    REQUIRE(std::abs(weights[0] - before) < 1e-3 * kRate / std::sqrt(config.epsilon) * 1.01);
  }
}

TEST_CASE("a gradient that is not finite changes nothing", "[unit][learner]") {
  const float bad =
      GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity());
  Optimizer optimizer({}, 2);
  Floats weights = {1, 2};
  static_cast<void>(optimizer.step(weights, Floats{1, 1}, 0.1));
  const OptimizerState before = optimizer.state();
  const Floats kept = weights;
  REQUIRE_FALSE(optimizer.step(weights, Floats{1, bad}, 0.1).applied);
  REQUIRE(weights == kept);
  REQUIRE(optimizer.state() == before);
}

TEST_CASE("squares of huge gradients that overflow are told of", "[unit][learner]") {
  OptimizerConfig config;
  config.kind =
      GENERATE(OptimizerKind::kAdam, OptimizerKind::kRmsProp, OptimizerKind::kRmsPropCentred);
  config.gradient_clip = std::numeric_limits<double>::infinity();
  Optimizer optimizer(config, 1);
  Floats weights = {0};
  static_cast<void>(optimizer.step(weights, Floats{1e15F}, 0.1));
  CHECK(optimizer.is_finite());
  static_cast<void>(optimizer.step(weights, Floats{1e25F}, 0.1));
  CHECK_FALSE(optimizer.is_finite());
}

TEST_CASE("a restored optimiser goes on exactly", "[unit][learner]") {
  const auto kind =
      GENERATE(OptimizerKind::kAdam, OptimizerKind::kRmsProp, OptimizerKind::kRmsPropCentred);
  OptimizerConfig config;
  config.kind = kind;
  Optimizer optimizer(config, 2);
  Floats weights = {1, 2};
  for (const float g : {1.0F, -0.5F, 3.0F}) {
    static_cast<void>(optimizer.step(weights, Floats{g, 2 * g}, 0.01));
  }
  Optimizer other(config, 2);
  REQUIRE(other.fits(optimizer.state()));
  other.restore(optimizer.state());
  Floats copy = weights;
  static_cast<void>(optimizer.step(weights, Floats{0.3F, 0.1F}, 0.01));
  static_cast<void>(other.step(copy, Floats{0.3F, 0.1F}, 0.01));
  REQUIRE(copy == weights);
}

TEST_CASE("the state of another kind or size does not fit", "[unit][learner]") {
  OptimizerConfig rmsprop;
  rmsprop.kind = OptimizerKind::kRmsProp;
  const Optimizer adam({}, 3);
  REQUIRE_FALSE(adam.fits(Optimizer(rmsprop, 3).state()));
  REQUIRE_FALSE(adam.fits(Optimizer({}, 4).state()));
  OptimizerState negative = adam.state();
  negative.steps = -1;
  REQUIRE_FALSE(adam.fits(negative));
}

TEST_CASE("the means of a weight without gradients come to zero, and not to denormal numbers",
          "[unit][learner]") {
  OptimizerConfig config;
  config.kind =
      GENERATE(OptimizerKind::kAdam, OptimizerKind::kRmsProp, OptimizerKind::kRmsPropCentred);
  config.beta2 = 0.99;
  Optimizer optimizer(config, 1);
  std::vector<float> weights = {1};
  static_cast<void>(optimizer.step(weights, std::vector<float>{1}, 1e-3));
  for (int i = 0; i < 12'000; ++i) {
    static_cast<void>(optimizer.step(weights, std::vector<float>{0}, 1e-3));
    for (const auto& means : {optimizer.state().mean, optimizer.state().mean_square}) {
      for (const float mean : means) REQUIRE(std::fpclassify(mean) != FP_SUBNORMAL);
    }
  }
  CHECK(optimizer.state().mean_square[0] == 0);
}

TEST_CASE("optimiser settings out of range are named", "[unit][learner]") {
  REQUIRE(validate(OptimizerConfig{}).empty());
  OptimizerConfig config;
  config.beta1 = 1;
  config.beta2 = -0.1;
  config.decay = 2;
  config.epsilon = 0;
  config.gradient_clip = 0;
  REQUIRE(validate(config).size() == 5);
  config = {};
  config.epsilon = 1e-50;  // nothing to a float
  REQUIRE(validate(config).size() == 1);
  config = {};
  config.beta2 = 1 - 1e-9;  // 1 to a float
  config.decay = 1 - 1e-7;
  const auto problems = validate(config);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0], Catch::Contains("beta2") && Catch::Contains("so near to 1"));
  config = {};
  config.gradient_clip = std::numeric_limits<double>::infinity();
  REQUIRE(validate(config).empty());
}

}  // namespace
}  // namespace pacml::learner

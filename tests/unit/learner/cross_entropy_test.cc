#include "learner/losses/cross_entropy.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

// Two decisions between three actions; the last action of the second one is invalid.
const std::vector<std::uint8_t> kMasks = {1, 1, 1, 1, 1, 0};
const std::vector<std::int32_t> kGiven = {2, 0};
const std::vector<float> kWeights = {0.75F, 0.25F};

double loss_of(const std::vector<float>& logits, double probability,
               std::vector<float>* gradient = nullptr) {
  MaskedCategorical policy;
  masked_categorical(logits, kMasks, 3, policy);
  std::vector<float> ignored(logits.size());
  return cross_entropy_loss(policy, kMasks, kGiven, probability, kWeights,
                            gradient != nullptr ? *gradient : ignored);
}

TEST_CASE("cross-entropy counts what was done by its probability and the rest alike",
          "[unit][learner]") {
  const auto third = std::log(3.0);
  const auto half = std::log(2.0);
  CHECK(loss_of({0, 0, 0, 0, 0, 0}, 1) == Approx(0.75 * third + 0.25 * half));
  CHECK(loss_of({0, 0, 0, 0, 0, 0}, 0.8) == Approx(0.75 * third + 0.25 * half));
  // pi = {1/7, 2/7, 4/7} and {3/4, 1/4}.
  const std::vector<float> logits = {0, std::log(2.0F), std::log(4.0F), std::log(3.0F), 0, 9};
  CHECK(loss_of(logits, 0.8) == Approx(-0.75 * (0.1 * std::log(1.0 / 7) + 0.1 * std::log(2.0 / 7) +
                                                0.8 * std::log(4.0 / 7)) -
                                       0.25 * (0.8 * std::log(0.75) + 0.2 * std::log(0.25))));
}

TEST_CASE("the gradient of cross-entropy is that of its differences", "[unit][learner]") {
  const std::vector<float> logits = {0.3F, -1.2F, 0.8F, 0.5F, 0.1F, 4};
  std::vector<float> gradient(logits.size(), 1);  // which it is added to
  static_cast<void>(loss_of(logits, 0.9, &gradient));
  for (std::size_t i = 0; i < logits.size(); ++i) {
    constexpr float kStep = 1e-2F;
    auto above = logits;
    auto below = logits;
    above[i] += kStep;
    below[i] -= kStep;
    const double slope = (loss_of(above, 0.9) - loss_of(below, 0.9)) / (2 * kStep);
    CAPTURE(i);
    CHECK(gradient[i] - 1 == Approx(slope).margin(1e-4));
  }
}

TEST_CASE("cross-entropy is least at the smoothed target, and says nothing of single actions",
          "[unit][learner]") {
  const std::vector<float> target = {std::log(0.05F), std::log(0.05F), std::log(0.9F),
                                     std::log(0.9F),  std::log(0.1F),  0};
  std::vector<float> gradient(target.size());
  static_cast<void>(loss_of(target, 0.9, &gradient));
  for (const float slope : gradient) CHECK(slope == Approx(0).margin(1e-6));

  MaskedCategorical policy;
  const std::vector<float> logits = {0, 7};
  const std::vector<std::uint8_t> single = {0, 1};
  masked_categorical(logits, single, 2, policy);
  std::vector<float> none(2);
  CHECK(cross_entropy_loss(policy, single, std::vector<std::int32_t>{1}, 0.9, std::vector<float>{1},
                           none) == 0);
  CHECK(none == std::vector<float>{0, 0});
}

}  // namespace
}  // namespace pacml::learner

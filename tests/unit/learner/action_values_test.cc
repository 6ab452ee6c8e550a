#include "learner/losses/action_values.h"

#include <cstdint>
#include <span>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kActions = 4;
constexpr double kLevelCost = 0.3;

struct Decisions {
  std::vector<float> logits, values, targets, weights;
  std::vector<std::uint8_t> masks;
};

Decisions random_decisions(std::size_t size, Seed seed) {
  Rng rng(seed);
  const auto number = [&rng] { return static_cast<float>(4 * rng.uniform() - 2); };
  Decisions out;
  for (std::size_t n = 0; n < size; ++n) {
    out.values.push_back(number());
    out.weights.push_back(static_cast<float>(rng.uniform()));
    const std::size_t sure = rng.below(kActions);
    for (std::size_t a = 0; a < kActions; ++a) {
      const bool valid = a == sure || rng.below(2) == 0;
      out.masks.push_back(valid ? 1 : 0);
      out.logits.push_back(valid ? number() : -1e9F);
      if (valid) out.targets.push_back(number());
    }
  }
  return out;
}

double loss_of(const Decisions& d) {
  std::vector<float> logit_gradients(d.logits.size());
  const auto loss = action_value_loss(d.logits, d.values, d.masks, kActions, d.targets, kLevelCost,
                                      d.weights, logit_gradients);
  return loss.advantages + loss.level;
}

TEST_CASE("the loss of action values is that of its formula", "[unit][learner]") {
  // Two decisions: of three actions, and of one, which has no advantage to be wrong about.
  const Decisions d{.logits = {1, 5, -1e9F, 3, -1e9F, 7, -1e9F, -1e9F},
                    .values = {2, 1},
                    .targets = {1, 2, 6, 4},
                    .weights = {2, 1},
                    .masks = {1, 1, 0, 1, 0, 1, 0, 0}};
  std::vector<float> logit_gradients(8);
  const auto loss = action_value_loss(d.logits, d.values, d.masks, kActions, d.targets, kLevelCost,
                                      d.weights, logit_gradients);
  // Logits less their mean: -2, 2, 0; targets: -2, -1, 3. Errors: 0, 3, -3.
  CHECK(loss.advantages == Approx(2 * (9 + 9) / 2.0));
  CHECK(loss.squared_errors == Approx(18));
  CHECK(loss.squared_targets == Approx(4 + 1 + 9));
  // Values and mean logits: 2 + 3, 1 + 7; mean targets: 3, 4.
  CHECK(loss.level == Approx(kLevelCost * (2 * 4 + 1 * 16) / 2.0));
  CHECK(loss.agreed == 1);  // the second, which has no choice
  const std::vector<double> errors = {0, 3, 0, -3, 0, 0, 0, 0};
  for (std::size_t a = 0; a < 4; ++a) {
    INFO("action " << a);
    const bool valid = d.masks[a] != 0;
    CHECK(logit_gradients[a] == Approx(valid ? 2 * (errors[a] + kLevelCost * 2 / 3) : 0));
  }
  CHECK(logit_gradients[5] == Approx(kLevelCost * 4));
  CHECK(logit_gradients[4] == 0);
}

TEST_CASE("the gradients of action values are those of finite differences", "[unit][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 8));
  const Decisions d = random_decisions(6, Seed{seed});
  std::vector<float> logit_gradients(d.logits.size());
  static_cast<void>(action_value_loss(d.logits, d.values, d.masks, kActions, d.targets, kLevelCost,
                                      d.weights, logit_gradients));
  // The loss is a parabola, so that only the rounding of float32 is left of a central difference.
  constexpr float kStep = 0.25F;
  const auto slope = [&](std::vector<float> Decisions::*column, std::size_t i) {
    Decisions up = d;
    Decisions down = d;
    (up.*column)[i] += kStep;
    (down.*column)[i] -= kStep;
    return (loss_of(up) - loss_of(down)) / (2 * kStep);
  };
  for (std::size_t i = 0; i < d.logits.size(); ++i) {
    if (d.masks[i] == 0) {
      CHECK(logit_gradients[i] == 0);
    } else {
      CHECK(logit_gradients[i] == Approx(slope(&Decisions::logits, i)).margin(1e-5));
    }
  }
}

}  // namespace
}  // namespace pacml::learner

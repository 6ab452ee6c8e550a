#include "learner/losses/clipped_surrogate.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

constexpr double kClip = 0.2;

MaskedCategorical policy_of(const std::vector<float>& logits, std::size_t actions) {
  MaskedCategorical policy;
  masked_categorical(logits, std::vector<std::uint8_t>(logits.size(), 1), actions, policy);
  return policy;
}

// One decision between two actions of which the first was taken: loss, and its gradient.
struct Single {
  double loss = 0;
  std::vector<float> gradient = {0, 0};
};
Single single(double ratio, float advantage) {
  const MaskedCategorical policy = policy_of({0, 0}, 2);  // each has probability 1/2
  const std::vector<float> behaviour = {static_cast<float>(std::log(0.5 / ratio))};
  Single out;
  out.loss = clipped_surrogate_loss(policy, std::vector<std::int32_t>{0}, behaviour,
                                    std::vector<float>{advantage}, kClip, std::vector<float>{1},
                                    out.gradient);
  return out;
}

TEST_CASE("a ratio within the clip counts in full", "[unit][learner]") {
  const Single good = single(1.1, 2);
  CHECK(good.loss == Approx(-2.2));
  CHECK(good.gradient[0] == Approx(-1.1));  // -r A (1 - pi)
  CHECK(good.gradient[1] == Approx(1.1));
  const Single bad = single(0.9, -2);
  CHECK(bad.loss == Approx(1.8));
  CHECK(bad.gradient[0] == Approx(0.9));
}

TEST_CASE("a policy that has gone far enough is not pushed further", "[unit][learner]") {
  CHECK(single(1.5, 2).loss == Approx(-2.4));
  CHECK(single(1.5, 2).gradient == std::vector<float>{0, 0});
  CHECK(single(0.5, -2).loss == Approx(1.6));
  CHECK(single(0.5, -2).gradient == std::vector<float>{0, 0});
}

TEST_CASE("a policy that has gone the wrong way is brought back in full", "[unit][learner]") {
  CHECK(single(0.5, 2).loss == Approx(-1));
  CHECK(single(0.5, 2).gradient[0] == Approx(-0.5));
  CHECK(single(1.5, -2).loss == Approx(3));
  CHECK(single(1.5, -2).gradient[0] == Approx(1.5));
}

TEST_CASE("ratios beyond all bounds overflow nothing", "[unit][learner]") {
  for (const double log_ratio : {-1e3, 1e3}) {
    const MaskedCategorical policy = policy_of({0, 0}, 2);
    std::vector<float> gradient = {0, 0};
    const double loss =
        clipped_surrogate_loss(policy, std::vector<std::int32_t>{0},
                               std::vector<float>{static_cast<float>(std::log(0.5) - log_ratio)},
                               std::vector<float>{-1}, kClip, std::vector<float>{1}, gradient);
    CHECK(std::isfinite(loss));
    CHECK(std::isfinite(gradient[0]));
  }
}

TEST_CASE("the gradient is that of the loss", "[unit][learner]") {
  Rng rng(Seed{4});
  constexpr std::size_t kRows = 12;
  constexpr std::size_t kActions = 4;
  std::vector<float> logits(kRows * kActions);
  std::vector<std::int32_t> actions(kRows);
  std::vector<float> behaviour(kRows);
  std::vector<float> advantages(kRows);
  std::vector<float> weights(kRows);
  for (float& x : logits) x = static_cast<float>(rng.normal());
  for (std::size_t n = 0; n < kRows; ++n) {
    actions[n] = static_cast<std::int32_t>(rng.below(kActions));
    behaviour[n] = static_cast<float>(-0.5 - 2 * rng.uniform());
    advantages[n] = static_cast<float>(rng.normal());
    weights[n] = static_cast<float>(rng.uniform());
  }
  const auto loss = [&](const std::vector<float>& at, std::vector<float>& gradient) {
    return clipped_surrogate_loss(policy_of(at, kActions), actions, behaviour, advantages, kClip,
                                  weights, gradient);
  };
  std::vector<float> gradient(logits.size(), 0.0F);
  static_cast<void>(loss(logits, gradient));
  std::vector<float> unused(logits.size());
  bool any = false;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    constexpr float kStep = 1e-2F;
    std::vector<float> up = logits;
    std::vector<float> down = logits;
    up[i] += kStep;
    down[i] -= kStep;
    const double slope = (loss(up, unused) - loss(down, unused)) / (2 * double{kStep});
    INFO("logit " << i);
    CHECK(gradient[i] == Approx(slope).margin(2e-3));
    any = any || gradient[i] != 0;
  }
  CHECK(any);
}

}  // namespace
}  // namespace pacml::learner

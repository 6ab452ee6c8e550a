#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "common/rng.h"
#include "learner/losses/entropy.h"
#include "learner/losses/masked_categorical.h"
#include "learner/losses/policy_gradient.h"
#include "learner/losses/value.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kRows = 6;
constexpr std::size_t kActions = 5;

struct Decisions {
  std::vector<float> logits;
  std::vector<std::uint8_t> masks;
  std::vector<std::int32_t> actions;
  std::vector<float> advantages;
  std::vector<float> weights;
};

// Row 0 has a single valid action, row 1 a weight of 0.
Decisions random_decisions(Rng& rng) {
  Decisions d;
  for (std::size_t n = 0; n < kRows; ++n) {
    const auto action = static_cast<std::size_t>(rng.below(kActions));
    for (std::size_t a = 0; a < kActions; ++a) {
      d.logits.push_back(static_cast<float>(4 * rng.uniform() - 2));
      d.masks.push_back(a == action || (n > 0 && rng.below(2) == 1) ? 1 : 0);
    }
    d.actions.push_back(static_cast<std::int32_t>(action));
    d.advantages.push_back(static_cast<float>(2 * rng.uniform() - 1));
    d.weights.push_back(n == 1 ? 0.0F : static_cast<float>(rng.uniform()));
  }
  return d;
}

// The loss in double, from the definition.
double probability(const Decisions& d, const std::vector<double>& logits, std::size_t n,
                   std::size_t action) {
  double sum = 0;
  for (std::size_t a = 0; a < kActions; ++a) {
    if (d.masks[n * kActions + a] != 0) sum += std::exp(logits[n * kActions + a]);
  }
  return d.masks[n * kActions + action] != 0 ? std::exp(logits[n * kActions + action]) / sum : 0;
}

double policy_gradient(const Decisions& d, const std::vector<double>& logits) {
  double loss = 0;
  for (std::size_t n = 0; n < kRows; ++n) {
    const auto action = static_cast<std::size_t>(d.actions[n]);
    loss -= double{d.weights[n]} * d.advantages[n] * std::log(probability(d, logits, n, action));
  }
  return loss;
}

double entropy(const Decisions& d, const std::vector<double>& logits, bool normalised,
               double offset) {
  double loss = 0;
  for (std::size_t n = 0; n < kRows; ++n) {
    double sum = 0;
    int valid = 0;
    for (std::size_t a = 0; a < kActions; ++a) {
      if (d.masks[n * kActions + a] == 0) continue;
      const double p = probability(d, logits, n, a);
      sum -= p * std::log(p + offset);
      ++valid;
    }
    if (valid > 1) loss -= d.weights[n] * sum / (normalised ? std::log(double(valid)) : 1.0);
  }
  return loss;
}

void require_gradient(const Decisions& d, const std::vector<float>& gradient,
                      const std::function<double(const std::vector<double>&)>& loss) {
  constexpr double kStep = 1e-5;
  const std::vector<double> logits(d.logits.begin(), d.logits.end());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    INFO("row " << i / kActions << ", action " << i % kActions);
    std::vector<double> up = logits;
    std::vector<double> down = logits;
    up[i] += kStep;
    down[i] -= kStep;
    REQUIRE(gradient[i] == Approx((loss(up) - loss(down)) / (2 * kStep)).margin(1e-6));
  }
}

MaskedCategorical policy_of(const Decisions& d) {
  MaskedCategorical policy;
  masked_categorical(d.logits, d.masks, kActions, policy);
  return policy;
}

TEST_CASE("the policy-gradient loss and its gradient follow the definition",
          "[property][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 20));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  const Decisions d = random_decisions(rng);
  std::vector<float> gradient(d.logits.size(), 0.0F);
  const double loss =
      policy_gradient_loss(policy_of(d), d.actions, d.advantages, d.weights, gradient);
  const auto definition = [&](const std::vector<double>& x) { return policy_gradient(d, x); };
  REQUIRE(loss == Approx(definition({d.logits.begin(), d.logits.end()})).margin(1e-6));
  require_gradient(d, gradient, definition);
}

TEST_CASE("the entropy loss and its gradient follow the definition", "[property][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 20));
  const bool normalised = GENERATE(false, true);
  const double offset = GENERATE(0.0, 1e-3, 0.2);
  INFO("seed " << seed << ", offset " << offset);
  Rng rng(Seed{seed});
  const Decisions d = random_decisions(rng);
  constexpr double kCost = 0.3;
  std::vector<float> gradient(d.logits.size(), 0.0F);
  const double loss =
      offset > 0 ? offset_entropy_loss(policy_of(d), offset, normalised, kCost, d.weights, gradient)
                 : entropy_loss(policy_of(d), normalised, kCost, d.weights, gradient);
  const auto definition = [&](const std::vector<double>& x) {
    return kCost * entropy(d, x, normalised, offset);
  };
  REQUIRE(loss == Approx(definition({d.logits.begin(), d.logits.end()})).margin(1e-6));
  require_gradient(d, gradient, definition);
}

TEST_CASE("the value loss and its gradient follow the definition", "[property][learner]") {
  const std::vector<float> values = {1, 2, -3};
  const std::vector<float> targets = {0, 4, -3};
  const std::vector<float> weights = {0.5F, 0.25F, 1};
  std::vector<float> gradient = {10, 10, 10};  // is added to
  const double loss = value_loss(values, targets, 2.0, weights, gradient);
  REQUIRE(loss == Approx(2.0 / 2 * (0.5 * 1 + 0.25 * 4)));
  REQUIRE(gradient[0] == Approx(10 + 2 * 0.5 * 1));
  REQUIRE(gradient[1] == Approx(10 - 2 * 0.25 * 2));
  REQUIRE(gradient[2] == 10);
}

TEST_CASE("a decision with one valid action contributes exactly nothing", "[property][learner]") {
  Rng rng(Seed{7});
  const Decisions d = random_decisions(rng);
  std::vector<float> gradient(d.logits.size(), 0.0F);
  std::vector<float> only_first(kRows, 0.0F);
  only_first[0] = 1;
  const MaskedCategorical policy = policy_of(d);
  REQUIRE(policy.valid[0] == 1);
  REQUIRE(policy_gradient_loss(policy, d.actions, d.advantages, only_first, gradient) == 0);
  REQUIRE(entropy_loss(policy, true, 1.0, only_first, gradient) == 0);
  REQUIRE(offset_entropy_loss(policy, 0.1, true, 1.0, only_first, gradient) == 0);
  REQUIRE(gradient == std::vector<float>(gradient.size(), 0.0F));
}

TEST_CASE("huge logits neither overflow nor lose the distribution", "[property][learner]") {
  const std::vector<float> logits = {3e38F, -3e38F, 3e38F, -1e9F};
  const std::vector<std::uint8_t> masks = {1, 1, 1, 0};
  MaskedCategorical policy;
  masked_categorical(logits, masks, 4, policy);
  REQUIRE(policy.probs == std::vector<float>{0.5F, 0.0F, 0.5F, 0.0F});
  REQUIRE(policy.entropies[0] == Approx(std::log(2.0)));
}

}  // namespace
}  // namespace pacml::learner

#include "model/duelling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "model/network_constants.h"
#include "model/value_heads.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

constexpr std::size_t kActions = 5;

struct Rows {
  std::vector<float> logits;
  std::vector<float> values;
  std::vector<std::uint8_t> masks;
  std::vector<std::int32_t> chosen;
};

Rows random_rows(std::size_t count, Seed seed) {
  Rng rng(seed);
  Rows rows;
  for (std::size_t b = 0; b < count; ++b) {
    const auto action = rng.below(kActions);
    rows.chosen.push_back(static_cast<std::int32_t>(action));
    rows.values.push_back(uniform_float(rng, -3, 3));
    for (std::size_t a = 0; a < kActions; ++a) {
      const bool valid = a == action || rng.below(2) == 0;
      rows.masks.push_back(valid ? 1 : 0);
      rows.logits.push_back(valid ? uniform_float(rng, -2, 2) : kMaskedLogit);
    }
  }
  return rows;
}

std::vector<float> q_of(const Rows& rows) {
  std::vector<float> q(rows.logits.size());
  duelling_q_values(rows.logits, rows.values, rows.masks, kActions, q);
  return q;
}

TEST_CASE("an action is worth the state's value and its lead over the valid actions' mean",
          "[unit][model]") {
  Rows rows;
  rows.values = {10, -1};
  rows.logits = {1, 2, 3, 4, kMaskedLogit, 5, kMaskedLogit, 5, kMaskedLogit, kMaskedLogit};
  rows.masks = {1, 1, 1, 1, 0, 1, 0, 1, 0, 0};
  const std::vector<float> expected = {8.5F, 9.5F,         10.5F, 11.5F,        kMaskedLogit,
                                       -1,   kMaskedLogit, -1,    kMaskedLogit, kMaskedLogit};
  CHECK(q_of(rows) == expected);
}

TEST_CASE("the only valid action is worth exactly the state's value", "[unit][model]") {
  Rows rows;
  rows.values = {0.3F};
  rows.logits = {kMaskedLogit, 7.77F, kMaskedLogit, kMaskedLogit, kMaskedLogit};
  rows.masks = {0, 1, 0, 0, 0};
  CHECK(q_of(rows)[1] == 0.3F);
  std::vector<float> logit_gradients(kActions);
  std::vector<float> value_gradients(1);
  duelling_gradients(rows.masks, kActions, std::vector<std::int32_t>{1}, std::vector{2.5F},
                     logit_gradients, value_gradients);
  CHECK(logit_gradients == std::vector<float>(kActions));  // its advantage can change nothing
  CHECK(value_gradients[0] == 2.5F);
}

TEST_CASE("what an invalid action's logit says changes nothing", "[unit][model]") {
  Rows rows = random_rows(20, Seed{1});
  const std::vector<float> q = q_of(rows);
  for (std::size_t i = 0; i < rows.logits.size(); ++i) {
    if (rows.masks[i] == 0) rows.logits[i] = -std::numeric_limits<float>::infinity();
  }
  CHECK(q_of(rows) == q);
  for (const float value : q) CHECK(std::isfinite(value));
}

TEST_CASE("the valid actions of a state are worth its value on average", "[unit][model]") {
  const Rows rows = random_rows(50, Seed{2});
  const std::vector<float> q = q_of(rows);
  for (std::size_t b = 0; b < rows.values.size(); ++b) {
    double sum = 0;
    double valid = 0;
    for (std::size_t a = 0; a < kActions; ++a) {
      if (rows.masks[b * kActions + a] == 0) continue;
      sum += q[b * kActions + a];
      valid += 1;
    }
    CHECK(sum / valid == Approx(rows.values[b]).margin(1e-5));
  }
}

TEST_CASE("gradients of action values are those of finite differences", "[unit][model]") {
  constexpr std::size_t kRows = 12;
  constexpr float kStep = 0.25F;  // the values are linear, so a wide step loses nothing
  Rows rows = random_rows(kRows, Seed{3});
  Rng rng(Seed{4});
  std::vector<float> q_gradients(kRows);
  for (float& g : q_gradients) g = uniform_float(rng, -1, 1);
  const auto loss = [&] {
    const std::vector<float> q = q_of(rows);
    double sum = 0;
    for (std::size_t b = 0; b < kRows; ++b) {
      sum += double{q_gradients[b]} * q[b * kActions + static_cast<std::size_t>(rows.chosen[b])];
    }
    return sum;
  };
  std::vector<float> logit_gradients(rows.logits.size(), 1.0F);  // what is there is added to
  std::vector<float> value_gradients(kRows, 1.0F);
  duelling_gradients(rows.masks, kActions, rows.chosen, q_gradients, logit_gradients,
                     value_gradients);
  const auto slope = [&](float& x) {
    const float before = x;
    x = before + kStep;
    const double above = loss();
    x = before - kStep;
    const double below = loss();
    x = before;
    return (above - below) / (2 * kStep);
  };
  for (std::size_t i = 0; i < rows.logits.size(); ++i) {
    const double expected = rows.masks[i] != 0 ? slope(rows.logits[i]) : 0.0;
    CHECK(logit_gradients[i] - 1 == Approx(expected).margin(1e-5));
  }
  for (std::size_t b = 0; b < kRows; ++b) {
    CHECK(value_gradients[b] - 1 == Approx(slope(rows.values[b])).margin(1e-5));
  }
}

TEST_CASE("the best action is a valid one, and the lowest of equals", "[unit][model]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(best_valid_action(std::vector{1.0F, 3.0F, 2.0F, 3.0F}) == 1);
  CHECK(best_valid_action(std::vector{kMaskedLogit, -2e9F, -3e9F}) == 1);
  CHECK(best_valid_action(std::vector{kMaskedLogit, nan, 0.5F, nan}) == 2);
  CHECK(best_valid_action(std::vector{kMaskedLogit, nan, nan}) == 1);
}

TEST_CASE("the greedy action of the values is that of the logits", "[unit][model]") {
  const Rows rows = random_rows(200, Seed{5});
  const std::vector<float> q = q_of(rows);
  for (std::size_t b = 0; b < rows.values.size(); ++b) {
    const auto row = [&](const std::vector<float>& of) {
      return std::span(of).subspan(b * kActions, kActions);
    };
    CHECK(best_valid_action(row(q)) == best_valid_action(row(rows.logits)));
  }
}

TEST_CASE("what an action is worth is what the heads say that it is", "[unit][model]") {
  const Rows rows = random_rows(20, Seed{3});
  std::vector<float> q(rows.logits.size());
  action_values(ValueHeads::kActions, rows.logits, rows.values, rows.masks, kActions, q);
  for (std::size_t i = 0; i < q.size(); ++i) {
    CHECK(q[i] == (rows.masks[i] != 0 ? rows.logits[i] + rows.values[i / kActions] : kMaskedLogit));
  }
  std::vector<float> duelling(q.size());
  duelling_q_values(rows.logits, rows.values, rows.masks, kActions, duelling);
  action_values(ValueHeads::kDuelling, rows.logits, rows.values, rows.masks, kActions, q);
  CHECK(q == duelling);
}

}  // namespace
}  // namespace pacml::model

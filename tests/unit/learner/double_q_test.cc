#include "learner/returns/double_q.h"

#include <cmath>
#include <limits>
#include <vector>

#include "common/rng.h"
#include "model/network_constants.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

using Floats = std::vector<float>;
using model::kMaskedLogit;

TEST_CASE("one network chooses, the other one says what the choice is worth", "[unit][learner]") {
  const Floats online = {1, 5, 2};
  const Floats target = {100, 7, 200};
  Floats out(1);
  double_q_targets(Floats{3}, Floats{0.5F}, online, target, 3, out);
  CHECK(out[0] == 3 + 0.5F * 7);
}

TEST_CASE("targets are those of the definition, under random masks", "[unit][learner]") {
  constexpr std::size_t kRows = 300;
  constexpr std::size_t kActions = 6;
  Rng rng(Seed{1});
  const auto number = [&] { return static_cast<float>(8 * rng.uniform() - 4); };
  Floats returns;
  Floats discounts;
  Floats online;
  Floats target;
  Floats expected;
  for (std::size_t n = 0; n < kRows; ++n) {
    returns.push_back(number());
    discounts.push_back(rng.below(4) == 0 ? 0.0F : static_cast<float>(rng.uniform()));
    const auto sure = rng.below(kActions);
    double best = -std::numeric_limits<double>::infinity();
    double worth = 0;
    for (std::size_t a = 0; a < kActions; ++a) {
      const bool valid = a == sure || rng.below(2) == 0;
      // Values far below what stands for an invalid action would be chosen by an unmasked maximum
      // of offsets; values below 0 by one that starts at 0.
      const float q = number() - 3;
      const float q_target = number();
      online.push_back(valid ? q : kMaskedLogit);
      target.push_back(valid ? q_target : kMaskedLogit);
      if (valid && q > best) {
        best = q;
        worth = q_target;
      }
    }
    expected.push_back(static_cast<float>(returns[n] + discounts[n] * worth));
  }
  Floats out(kRows);
  double_q_targets(returns, discounts, online, target, kActions, out);
  for (std::size_t n = 0; n < kRows; ++n) CHECK(out[n] == Approx(expected[n]).margin(1e-5));
}

TEST_CASE("nothing that is said of the state after the end enters", "[unit][learner]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Floats online = {nan, nan, kMaskedLogit, kMaskedLogit};
  const Floats target = {nan, std::numeric_limits<float>::infinity(), nan, nan};
  Floats out(2);
  double_q_targets(Floats{2.5F, -1}, Floats{0, 0}, online, target, 2, out);
  CHECK(out == Floats{2.5F, -1});
}

}  // namespace
}  // namespace pacml::learner

#include "learner/returns/vtrace.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

using Floats = std::vector<float>;
using Ranges = std::vector<SequenceRange>;

TEST_CASE("a truncated step bootstraps from its own last state and cuts the trace",
          "[unit][learner]") {
  // One stream on policy, gamma 1/2, step 1 truncated with V = 2 of its last state. By hand:
  //   t = 2: 3 + 4/2 - 3 = 2            v = 5            A = 2
  //   t = 1: 1 + 2/2 - 1/2 = 3/2        v = 2            A = 3/2, nothing from t = 2
  //   t = 0: 1 + (1/2)/2 - 1 = 1/4      v = 1 + 1/4 + (3/2)/2 = 2
  //                                     A = 1 + 2/2 - 1 = 1
  const VtraceReturns out = vtrace({.sequences = Ranges{{0, 3}},
                                    .log_rhos = Floats{0, 0, 0},
                                    .discounts = Floats{0.5F, 0.5F, 0.5F},
                                    .elapsed = Floats{1, 1, 1},
                                    .rewards = Floats{1, 1, 3},
                                    .values = Floats{1, 0.5F, 3},
                                    .next_values = Floats{0.5F, 2, 4},
                                    .ends = std::vector<std::uint8_t>{0, 1, 0}},
                                   VtraceConfig{});
  REQUIRE(out.targets == Floats{2, 2, 5});
  REQUIRE(out.advantages == Floats{1, 1.5F, 2});
}

TEST_CASE("a terminated step has no future", "[unit][learner]") {
  const VtraceReturns out = vtrace({.sequences = Ranges{{0, 2}},
                                    .log_rhos = Floats{0, 0},
                                    .discounts = Floats{0, 0.5F},
                                    .elapsed = Floats{1, 1},
                                    .rewards = Floats{5, 100},
                                    .values = Floats{1, 1},
                                    .next_values = Floats{1e6F, 0},
                                    .ends = std::vector<std::uint8_t>{1, 0}},
                                   VtraceConfig{});
  REQUIRE(out.targets == Floats{5, 100});
  REQUIRE(out.advantages == Floats{4, 99});
}

TEST_CASE("lambda of time is to the power of the time that a step takes", "[unit][learner]") {
  // On policy, no discount, lambda 1/4 of a unit of time. By hand:
  //   t = 2: 1 + 0 - 0 = 1            v = 1
  //   t = 1: 1 + 0 - 0 = 1            v = 1 + (1/4)^(1/2) * 1 = 3/2
  //   t = 0: 1 + 0 - 0 = 1            v = 1 + (1/4)^0 * 3/2 = 5/2
  const auto targets = [](LambdaUnit unit) {
    return vtrace({.sequences = Ranges{{0, 3}},
                   .log_rhos = Floats{0, 0, 0},
                   .discounts = Floats{1, 1, 1},
                   .elapsed = Floats{0, 0.5F, 9},
                   .rewards = Floats{1, 1, 1},
                   .values = Floats{0, 0, 0},
                   .next_values = Floats{0, 0, 0},
                   .ends = std::vector<std::uint8_t>{0, 0, 0}},
                  {.lambda = 0.25, .lambda_per = unit})
        .targets;
  };
  REQUIRE(targets(LambdaUnit::kTime) == Floats{2.5F, 1.5F, 1});
  REQUIRE(targets(LambdaUnit::kDecision) == Floats{1.3125F, 1.25F, 1});
}

TEST_CASE("a ratio that would overflow is clipped like any other", "[unit][learner]") {
  const auto trace = [](float log_rho) {
    return vtrace({.sequences = Ranges{{0, 1}},
                   .log_rhos = Floats{log_rho},
                   .discounts = Floats{1},
                   .elapsed = Floats{1},
                   .rewards = Floats{2},
                   .values = Floats{1},
                   .next_values = Floats{3},
                   .ends = std::vector<std::uint8_t>{0}},
                  VtraceConfig{});
  };
  REQUIRE(trace(1e9F).targets == Floats{5});
  REQUIRE(trace(-1e9F).targets[0] == Approx(1).margin(1e-6));
}

TEST_CASE("V-trace settings are refused when the fixed point would make no sense",
          "[unit][learner]") {
  REQUIRE(validate(VtraceConfig{}).empty());
  VtraceConfig config;
  config.clip_c = 2;
  REQUIRE(validate(config).size() == 1);
  REQUIRE(validate(config)[0].find("clip_rho must be at least clip_c") == 0);
  config = {};
  config.lambda = 1.5;
  REQUIRE(validate(config).size() == 1);
  config = {};
  config.clip_rho = -1;
  REQUIRE(validate(config).size() == 2);
  config = {};
  config.clip_advantage = 0;
  REQUIRE(validate(config).size() == 1);
}

}  // namespace
}  // namespace pacml::learner

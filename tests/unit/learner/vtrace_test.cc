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
                                    .rewards = Floats{5, 100},
                                    .values = Floats{1, 1},
                                    .next_values = Floats{1e6F, 0},
                                    .ends = std::vector<std::uint8_t>{1, 0}},
                                   VtraceConfig{});
  REQUIRE(out.targets == Floats{5, 100});
  REQUIRE(out.advantages == Floats{4, 99});
}

TEST_CASE("a ratio that would overflow is clipped like any other", "[unit][learner]") {
  const auto trace = [](float log_rho) {
    return vtrace({.sequences = Ranges{{0, 1}},
                   .log_rhos = Floats{log_rho},
                   .discounts = Floats{1},
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

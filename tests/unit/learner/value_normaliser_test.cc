#include "learner/value_normaliser.h"

#include <vector>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

using Floats = std::vector<float>;

// A head on two inputs.
float output(const Floats& weight, const Floats& bias) {
  return 0.3F * weight[0] - 0.7F * weight[1] + bias[0];
}

TEST_CASE("the first batch sets the moments, and outputs of 0 are then its mean",
          "[unit][learner]") {
  ValueNormaliser normaliser(0.01);
  REQUIRE_FALSE(normaliser.started());
  normaliser.start(Floats{98, 102, 1e6F}, Floats{1, 0.5F, 0});  // mean 100, deviation 2
  REQUIRE(normaliser.started());
  REQUIRE(normaliser.to_value(0) == Approx(100));
  REQUIRE(normaliser.deviation() == Approx(2).epsilon(1e-3));
  REQUIRE(normaliser.to_output(104) == Approx(2).epsilon(1e-3));
}

TEST_CASE("values stay what they were when the moments move", "[unit][learner]") {
  ValueNormaliser normaliser(0.1);
  Floats weight = {1.5F, -0.5F};
  Floats bias = {0.25F};
  const float before = normaliser.to_value(output(weight, bias));
  for (const float level : {10.0F, -300.0F, 5000.0F}) {
    normaliser.update(Floats{level, level + 7}, Floats{1, 1}, weight, bias);
    REQUIRE(normaliser.to_value(output(weight, bias)) == Approx(before).margin(1e-2));
    Floats folded_weight = weight;
    Floats folded_bias = bias;
    normaliser.fold(folded_weight, folded_bias);
    REQUIRE(output(folded_weight, folded_bias) == Approx(before).margin(1e-2));
  }
  REQUIRE(normaliser.to_value(normaliser.to_output(123)) == Approx(123).epsilon(1e-4));
}

TEST_CASE("a batch that does not count changes nothing", "[unit][learner]") {
  ValueNormaliser normaliser(0.1);
  Floats weight = {1, 1};
  Floats bias = {1};
  normaliser.update(Floats{5, 6}, Floats{0, 0}, weight, bias);
  REQUIRE(normaliser.state() == ValueNormaliser(0.1).state());
  REQUIRE(weight == Floats{1, 1});
}

TEST_CASE("targets that do not differ keep the scale finite", "[unit][learner]") {
  ValueNormaliser normaliser(1.0);
  Floats weight = {1, 1};
  Floats bias = {0};
  normaliser.update(Floats{3, 3}, Floats{1, 1}, weight, bias);
  REQUIRE(normaliser.deviation() > 0);
  REQUIRE(normaliser.to_value(0) == Approx(3));
}

TEST_CASE("a restored normaliser goes on exactly", "[unit][learner]") {
  ValueNormaliser one(0.1);
  Floats weight = {1, 1};
  Floats bias = {0};
  one.update(Floats{3, 9}, Floats{1, 1}, weight, bias);
  ValueNormaliser two(0.1);
  two.restore(one.state());
  REQUIRE(two.state() == one.state());
  REQUIRE(two.deviation() == one.deviation());
  REQUIRE(two.to_value(0.5F) == one.to_value(0.5F));
}

}  // namespace
}  // namespace pacml::learner

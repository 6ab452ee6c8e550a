#include "learner/value_normaliser.h"

#include <cmath>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

using Floats = std::vector<float>;

// What an output becomes when its head is rewritten.
float changed(const ValueNormaliser::Change& change, float output) {
  return static_cast<float>(change.scale * output + change.shift);
}

TEST_CASE("the first batch sets the moments, and outputs of 0 are then its mean",
          "[unit][learner]") {
  ValueNormaliser normaliser(0.01);
  REQUIRE_FALSE(normaliser.started());
  normaliser.start(
      target_sums(Floats{98, 102, 1e6F}, Floats{1, 0.5F, 0}));  // mean 100, deviation 2
  REQUIRE(normaliser.started());
  REQUIRE(normaliser.to_value(0) == Approx(100));
  REQUIRE(normaliser.deviation() == Approx(2).epsilon(1e-3));
  REQUIRE(normaliser.to_output(104) == Approx(2).epsilon(1e-3));
}

TEST_CASE("values stay what they were when the moments move", "[unit][learner]") {
  ValueNormaliser normaliser(0.1);
  float output = 1.25F;
  const float before = normaliser.to_value(output);
  for (const float level : {10.0F, -300.0F, 5000.0F}) {
    output =
        changed(normaliser.update(target_sums(Floats{level, level + 7}, Floats{1, 1})), output);
    REQUIRE(normaliser.to_value(output) == Approx(before).margin(1e-2));
    REQUIRE(changed(normaliser.to_values(), output) == Approx(before).margin(1e-2));
  }
  REQUIRE(normaliser.to_value(normaliser.to_output(123)) == Approx(123).epsilon(1e-4));
}

TEST_CASE("a batch that does not count changes nothing", "[unit][learner]") {
  ValueNormaliser normaliser(0.1);
  REQUIRE(changed(normaliser.update(target_sums(Floats{5, 6}, Floats{0, 0})), 1.5F) == 1.5F);
  REQUIRE(normaliser.state() == ValueNormaliser(0.1).state());
}

TEST_CASE("targets that do not differ keep the scale finite", "[unit][learner]") {
  ValueNormaliser normaliser(1.0);
  const auto change = normaliser.update(target_sums(Floats{3, 3}, Floats{1, 1}));
  REQUIRE(std::isfinite(change.scale));
  REQUIRE(normaliser.deviation() > 0);
  REQUIRE(normaliser.to_value(0) == Approx(3));
}

TEST_CASE("a restored normaliser goes on exactly", "[unit][learner]") {
  ValueNormaliser one(0.1);
  static_cast<void>(one.update(target_sums(Floats{3, 9}, Floats{1, 1})));
  ValueNormaliser two(0.1);
  two.restore(one.state());
  REQUIRE(two.state() == one.state());
  REQUIRE(two.deviation() == one.deviation());
  REQUIRE(two.to_value(0.5F) == one.to_value(0.5F));
}

}  // namespace
}  // namespace pacml::learner

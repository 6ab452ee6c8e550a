#include "env/feature_check.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"

namespace pacml::env {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

// Two slots, of which the second has features that change; candidates whose number varies.
EnvironmentSpec spec() {
  EnvironmentSpec spec;
  spec.task = "harbour";
  spec.observation = plain_spec(2, 4);
  spec.observation.slots.push_back({.name = "cranes", .dynamic_width = 3});
  spec.observation.candidates.vary = true;
  spec.observation.candidates.features = {{"weight", "t"}, {"delay", "s"}};
  return spec;
}

Observations rows() {
  Observations out = spec().make_observations();
  for (const std::uint32_t count : {3U, 2U}) {
    const std::vector<std::uint32_t> nodes = {count + 1};
    const ObservationRow row = out.append({.candidates = count, .nodes = nodes});
    row.mask[0] = 1;
  }
  return out;
}

struct Odd {
  std::string sentence;
  std::function<void(const ObservationRow&)> make;
};

TEST_CASE("a feature that is not finite is named, in whatever row it is", "[unit][env]") {
  CHECK_FALSE(feature_that_is_not_finite(spec().observation, rows()));
  const auto odd = GENERATE(
      Odd{"global global_1 is nan", [](auto& row) { row.globals[1] = kNan; }},
      Odd{"weight of candidate 1 is inf", [](auto& row) { row.candidates[2] = kInfinite; }},
      Odd{"delay of candidate 0 is -inf", [](auto& row) { row.candidates[1] = -kInfinite; }},
      Odd{"feature 1 of node 2 in slot cranes is nan",
          [](auto& row) { row.node_features[7] = kNan; }});
  for (const std::size_t b : {0U, 1U}) {
    Observations shown = rows();
    odd.make(shown.row(b));
    CHECK(feature_that_is_not_finite(spec().observation, shown) == odd.sentence);
  }
}

TEST_CASE("whoever shows what is not finite is told the task", "[unit][env]") {
  Observations shown = rows();
  CHECK_NOTHROW(require_finite_features(spec(), shown));
  shown.row(1).globals[0] = kNan;
  CHECK_THROWS_WITH(require_finite_features(spec(), shown),
                    "the task harbour shows a decision whose global global_0 is nan: features must "
                    "be finite");
}

}  // namespace
}  // namespace pacml::env

#include "model/initialise.h"

#include <algorithm>
#include <cmath>

#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"

namespace pacml::model {
namespace {

float largest_magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

TEST_CASE("initial weights are a pure function of shape and seed") {
  const NetworkShape shape = published_shape();
  CHECK(initialise(shape, Seed{7}) == initialise(shape, Seed{7}));
  CHECK(initialise(shape, Seed{7}).values != initialise(shape, Seed{8}).values);
  CHECK(initialise(shape, Seed{7}).layout_hash == make_layout(shape).hash);
  CHECK(initialise(shape, Seed{7}).version == PolicyVersion{0});
}

TEST_CASE("initial norms are the identity") {
  const NetworkShape shape = published_shape();
  const ParameterLayout layout = make_layout(shape);
  const Parameters parameters = initialise(shape, Seed{1});
  for (const char* name : {"round0.node_norm", "round1.reduce_norm", "graph_norm"}) {
    CHECK(std::ranges::all_of(view(parameters, layout, std::string(name) + ".weight"),
                              [](float x) { return x == 1.0F; }));
    CHECK(std::ranges::all_of(view(parameters, layout, std::string(name) + ".bias"),
                              [](float x) { return x == 0.0F; }));
  }
}

TEST_CASE("layers are told apart whatever the task's graphs are called") {
  const auto weights = [](const std::string& slot) {
    NetworkShape shape = candidates_shape(3, 2, 4);
    shape.slots = {{5, 2, 1, true, EncoderConfig{.slot = slot, .blocks = 1}}};
    return initialise(shape, Seed{1}).values;
  };
  CHECK(weights("graph_norm") == weights("graph"));
}

TEST_CASE("initial linear layers fill their range, and the heads a hundredth of it") {
  const NetworkShape shape = published_shape();
  const ParameterLayout layout = make_layout(shape);
  const Parameters parameters = initialise(shape, Seed{1});
  const auto check = [&](const std::string& name, double bound) {
    INFO(name);
    const auto largest = double{largest_magnitude(view(parameters, layout, name))};
    CHECK(largest <= bound);
    CHECK(largest >= 0.8 * bound);
  };
  check("round0.node.weight", 1 / std::sqrt(5.0));
  check("round0.node.bias", 1 / std::sqrt(5.0));
  check("round1.reduce.weight", 1 / std::sqrt(32.0));
  check("readout.weight", 1 / std::sqrt(24.0));
  check("logits.weight", 0.01 / std::sqrt(256.0));
  check("value.weight", 0.01 / std::sqrt(256.0));
}

TEST_CASE("another width of one layer leaves the weights of the others") {
  const NetworkShape shape = published_shape();
  NetworkShape wider = shape;
  wider.actions = 33;
  wider.globals = 1;  // the same width of the graph module's input
  const auto weights = [](const NetworkShape& s) {
    const Parameters parameters = initialise(s, Seed{3});
    const auto readout = view(parameters, make_layout(s), "readout.weight");
    return std::vector<float>(readout.begin(), readout.end());
  };
  CHECK(weights(shape) == weights(wider));
}

}  // namespace
}  // namespace pacml::model

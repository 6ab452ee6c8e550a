#include "env/graph/zoo/cost_model.h"

#include "common/result.h"
#include "env/graph/zoo/layer_builder.h"
#include "tests/support/catch.h"

namespace pacml::env::zoo {
namespace {

// Figures that make the arithmetic easy: half of each peak is reached.
Device device() {
  return {.name = "easy",
          .peak_flops = 2e12,
          .memory_bandwidth = 2e12,
          .compute_efficiency = 0.5,
          .memory_efficiency = 0.5,
          .op_seconds = 1e-4,
          .launch_seconds = 1e-5,
          .host_link_bandwidth = 1e10,
          .decoded_images_per_second = 1000};
}

}  // namespace

TEST_CASE("an op is bound by arithmetic or by memory, whichever takes longer") {
  CHECK(time_ms({.flops = 5e9, .memory_bytes = 1e9}, device()) == 5.1);
  CHECK(time_ms({.flops = 1e9, .memory_bytes = 5e9}, device()) == 5.1);
}

TEST_CASE("launches and the host's part come on top") {
  CHECK(time_ms({.flops = 5e9, .launches = 10}, device()) == 5.2);
  CHECK(time_ms({.decoded_images = 64, .host_bytes = 1e8}, device()) == 74.1);
}

TEST_CASE("no work takes no time") { CHECK(time_ms({}, device()) == 0); }

TEST_CASE("times are the doubles that a text of three decimals means") {
  CHECK(time_ms({.flops = 1.23456e9}, device()) == 1.335);
  CHECK(time_ms({.flops = 1.0e3}, device()) == 0.1);
}

TEST_CASE("a profile numbers the layers from 1 and keeps who reads whom") {
  LayerBuilder b("tiny", 8);
  const Tensor x = b.image_input(1, 2, 2);
  b.add(b.relu(x), x);
  const Profile profile = profile_of(b.build(), device());
  CHECK(profile.model == "tiny");
  REQUIRE(profile.ops.size() == 3);
  CHECK(profile.ops[0].id == 1);
  CHECK(profile.ops[2].id == 3);
  CHECK(profile.ops[1].activation_bytes == 8 * 4 * 4);
  CHECK(profile.dependencies == std::vector<std::pair<int, int>>{{1, 2}, {2, 3}, {1, 3}});
}

TEST_CASE("a faster device is faster") {
  LayerBuilder b("m", 64);
  b.conv2d(b.image_input(3, 224, 224), {.channels = 64, .kernel = 3});
  const Network network = b.build();
  CHECK(profile_of(network, a100()).ops[1].forward_time <
        profile_of(network, v100()).ops[1].forward_time);
}

TEST_CASE("every named device can be had, and a misspelt one is refused with the nearest name") {
  for (const auto& name : device_names()) CHECK(device_of(name).name == name);
  CHECK_THROWS_WITH(device_of("a10"), "there is no device description 'a10'; did you mean 'a100'?");
}

}  // namespace pacml::env::zoo

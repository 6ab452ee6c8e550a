#include "env/tasks/job_placing/graph_speeds.h"

#include <cstdint>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

TEST_CASE("no job does more than its GPUs can, nor is faster over a network",
          "[property][gpu_cluster]") {
  const std::vector<GpuTypeServers> gpus = {{"v100", 4}};
  int cut = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{seed});
    const Profile profile = testing::random_profile(rng, {.max_ops = 10, .costly_sinks = true});
    double alone_s = 0;
    for (const ForwardOp& op : profile.ops) {
      alone_s += 1e-3 * (op.forward_time + op.backward_time);
    }
    GraphSpeedsConfig config;
    config.largest = 8;
    config.link_bandwidth = 1e9 * (1 + 20 * rng.uniform());
    config.link_latency_s = 1e-4 * rng.uniform();
    const auto speeds_of = [&](const GraphSpeedsConfig& c) {
      return graph_speeds(std::vector{profile}, c, gpus).types.at("random").speeds.at("v100");
    };
    const auto speeds = speeds_of(config);
    CHECK(speeds.at(1).together == Approx(1 / alone_s));
    for (const auto& [size, speed] : speeds) {
      INFO(size << " GPUs");
      CHECK(speed.spread > 0);
      CHECK(speed.spread <= speed.together);
      CHECK(speed.together <= size / alone_s * (1 + 1e-9));
    }
    // On a network that takes no time, being apart makes no difference, and the sizes are the same.
    config.link_bandwidth = 1e24;
    config.link_latency_s = 0;
    const auto free = speeds_of(config);
    REQUIRE(free.size() == speeds.size());
    for (const auto& [size, speed] : free) CHECK(speed.spread == Approx(speed.together));
    cut += speeds.size() > 1 ? 1 : 0;
  }
  CHECK(cut > 50);
}

}  // namespace
}  // namespace pacml::env
